"""What the functions of conditions mean, on normalised values. A value of a type they do not fit is no match."""

from __future__ import annotations

from hashrange.values import binary
from hashrange.values.types import AttributeValue

_MEMBER_TYPES = {"SS": "S", "NS": "N", "BS": "B"}


def size(value: AttributeValue) -> AttributeValue | None:
    """The size as a number, or None for types that have none."""
    for type_code, content in value.items():
        if type_code == "S":
            return {"N": str(len(content) if content.isascii() else _utf16_units(content))}
        if type_code == "B":
            return {"N": str(len(binary.decode(content)))}
        if type_code in ("SS", "NS", "BS", "L", "M"):
            return {"N": str(len(content))}
    return None


def _utf16_units(text: str) -> int:
    """The service counts like Java: a character beyond the basic plane is two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def begins_with(value: AttributeValue, prefix: AttributeValue) -> bool:
    if "S" in value and "S" in prefix:
        return bool(value["S"].startswith(prefix["S"]))
    if "B" in value and "B" in prefix:
        return binary.decode(value["B"]).startswith(binary.decode(prefix["B"]))
    return False


def contains(container: AttributeValue, sought: AttributeValue) -> bool:
    """A substring, a member of a set, or an element of a list."""
    for type_code, content in container.items():
        if type_code == "L":
            return sought in content
        if type_code in _MEMBER_TYPES:
            return sought.get(_MEMBER_TYPES[type_code]) in content
        if type_code == "S":
            return "S" in sought and sought["S"] in content
        if type_code == "B":
            return "B" in sought and binary.decode(sought["B"]) in binary.decode(content)
    return False
