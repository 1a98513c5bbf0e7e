"""What values are, said again in plain Python: one spelling, size, order. Shares no code with the program."""

from __future__ import annotations

import base64
from decimal import Context, Decimal
from typing import Any

Value = dict[str, Any]
Attributes = dict[str, Value]

EXACT = Context(prec=400)


class Unstorable(Exception):
    """A number that the database must refuse."""


def number(value: Decimal) -> str:
    """The one spelling of a number of at most 38 digits between 1E-130 and 9.99E+125."""
    value = value.normalize(EXACT)
    if not value:
        return "0"
    if len(value.as_tuple().digits) > 38 or not -130 <= value.adjusted() <= 125:
        raise Unstorable(value)
    return format(value, "f")


def normal(value: Value) -> Value:
    """The value as the database gives it back: numbers in one spelling, sets sorted."""
    [(kind, content)] = value.items()
    match kind:
        case "N":
            return {"N": number(Decimal(content))}
        case "NS":
            return {"NS": sorted((number(Decimal(each)) for each in content), key=Decimal)}
        case "SS":
            return {"SS": sorted(content, key=str.encode)}
        case "BS":
            return {"BS": sorted(content, key=base64.b64decode)}
        case "L":
            return {"L": [normal(each) for each in content]}
        case "M":
            return {"M": normal_attributes(content)}
    return value


def normal_attributes(attributes: Attributes) -> Attributes:
    return {name: normal(value) for name, value in attributes.items()}


def comparable(value: Value) -> Any:
    """Something that Python orders as the database orders the value."""
    [(kind, content)] = value.items()
    if kind == "N":
        return Decimal(content)
    return content.encode() if kind == "S" else base64.b64decode(content)


def number_size(text: str) -> int:
    value = Decimal(text).normalize(EXACT)
    if not value:
        return 1
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    whole = max(0, min(len(digits), len(digits) + exponent))
    fraction = len(digits) - whole
    return 1 + (whole + 1) // 2 + (fraction + 1) // 2 + sign


def size(value: Value) -> int:
    [(kind, content)] = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "B":
            return len(base64.b64decode(content))
        case "N":
            return number_size(content)
        case "SS" | "NS" | "BS":
            return sum(size({kind[0]: each}) for each in content)
        case "L":
            return 3 + sum(1 + size(each) for each in content)
        case "M":
            return 3 + sum(1 + len(name.encode()) + size(each) for name, each in content.items())
    return 1


def item_size(attributes: Attributes) -> int:
    return sum(len(name.encode()) + size(value) for name, value in attributes.items())


def write_units(*sizes: int) -> int:
    return max(1, -(-max(sizes) // 1024))


def read_units(size_bytes: int, *, consistent: bool) -> float:
    return max(1, -(-size_bytes // 4096)) * (1.0 if consistent else 0.5)
