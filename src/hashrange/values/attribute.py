"""The door for attribute values: what a client sent is checked, normalised in place and measured, in one walk.

Afterwards numbers are canonical, sets are sorted and every value has exactly one member, so equality is `==` and
nothing behind this door checks again. This is the hottest code of a write.

Two kinds of refusal leave here. A value that breaks a rule raises the client's error. A value that is not even of
the right JSON type (`{"S": 1}`, a list where a value belongs) raises `MalformedValue`: only the shape of the whole
request knows what the service says then, or whether it would convert (`{"BOOL": "true"}`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from hashrange.errors import InvalidContent, Oversized, ValidationException
from hashrange.limits import ATTRIBUTE_NAME_BYTES_MAX, ITEM_SIZE_BYTES_MAX, NESTING_LEVELS_MAX
from hashrange.values import binary, number
from hashrange.values.size import CONTAINER_BYTES, ELEMENT_BYTES, text_bytes
from hashrange.values.types import TYPE_CODES

INVALID = "One or more parameter values were invalid: "
EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
SEVERAL_TYPES = (
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
)
NULL_IS_TRUE = INVALID + "Null attribute value types must have the value of true"
EMPTY_STRING_SET = INVALID + "An string set  may not be empty"
EMPTY_NUMBER_SET = INVALID + "An number set  may not be empty"
EMPTY_BINARY_SET = INVALID + "Binary sets should not be empty"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
)
EMPTY_NAME = "Empty attribute name"
LONG_NAME = "Attribute name is too large, must be less than 65536 bytes"
TOO_LARGE = "Item size has exceeded the maximum allowed size"

# What is this far beyond the size of any item is refused without looking at the rest of it: a request of 16 MB can
# hold millions of values, and nobody should wait while they are checked.
HOPELESS_BYTES = 2 * ITEM_SIZE_BYTES_MAX
HOPELESS_ELEMENTS = ITEM_SIZE_BYTES_MAX  # each counts for a byte at least


class MalformedValue(Exception):
    """A value of the wrong JSON type. Never reaches a client: the request's shape says what is wrong with it."""


def check_attributes(attributes: dict[str, Any]) -> int:
    """Check and normalise an item or a key in place; returns its size in bytes, names included."""
    return _check_members(attributes, 1)


def check_value(value: object, depth: int = 1) -> int:
    """Check and normalise one value in place; returns its size in bytes.

    `depth` is the level the value stands on, where an attribute of the item itself is on the first.
    """
    if not isinstance(value, dict):
        raise MalformedValue
    if depth > NESTING_LEVELS_MAX:
        raise ValidationException(TOO_DEEP, enveloped=True)
    if len(value) == 1:
        for type_code, content in value.items():
            check = _CHECKS.get(type_code)
            if check is not None and content is not None:
                return check(value, content, depth)
    type_code = _keep_only_type(value)
    return _CHECKS[type_code](value, value[type_code], depth)


def check_depth(attributes: dict[str, Any], names: Iterable[str]) -> None:
    """Refuse an item whose attributes of these names, normalised but put together anew, are nested too deeply."""
    level = [value for name in names if "M" in (value := attributes.get(name, ())) or "L" in value]
    for _ in range(NESTING_LEVELS_MAX):
        inner: list[dict[str, Any]] = []
        for value in level:
            inner.extend(value["M"].values() if "M" in value else value["L"])
        if not inner:
            return
        level = [value for value in inner if "M" in value or "L" in value]
    raise ValidationException(TOO_DEEP, enveloped=True)


def _check_members(members: dict[str, Any], depth: int) -> int:
    """Check all values of an item or map; returns the size of names and values."""
    total = 0
    for name, value in members.items():
        length = len(name) if name.isascii() else len(name.encode())
        if not 0 < length <= ATTRIBUTE_NAME_BYTES_MAX:
            raise ValidationException(LONG_NAME if name else EMPTY_NAME, enveloped=True)
        is_plain = type(value) is dict and len(value) == 1 and depth <= NESTING_LEVELS_MAX
        if is_plain and type(text := value.get("S")) is str:  # most are strings or numbers: spare them some calls
            total += length + (len(text) if text.isascii() else len(text.encode()))
        elif is_plain and type(text := value.get("N")) is str:
            value["N"] = canonical = number.normalise(text)
            total += length + number.size_bytes(canonical)
        else:
            total += length + check_value(value, depth)
        if total > HOPELESS_BYTES:
            raise Oversized(TOO_LARGE)
    return total


def _keep_only_type(value: dict[str, Any]) -> str:
    """Drop members that are null or unknown, as the service does, and name the one that is left."""
    for member in [name for name, content in value.items() if content is None or name not in TYPE_CODES]:
        del value[member]
    if not value:
        raise ValidationException(EMPTY)
    if len(value) > 1:
        raise ValidationException(SEVERAL_TYPES)
    return next(iter(value))


def _check_string(value: dict[str, Any], content: object, depth: int) -> int:
    if not isinstance(content, str):
        raise MalformedValue
    return text_bytes(content)


def _check_number(value: dict[str, Any], content: object, depth: int) -> int:
    if not isinstance(content, str):
        raise MalformedValue
    value["N"] = canonical = number.normalise(content)
    return number.size_bytes(canonical)


def _check_binary(value: dict[str, Any], content: object, depth: int) -> int:
    if not isinstance(content, str):
        raise MalformedValue
    return len(binary.decode(content))


def _check_boolean(value: dict[str, Any], content: object, depth: int) -> int:
    if not isinstance(content, bool):
        raise MalformedValue
    return 1


def _check_null(value: dict[str, Any], content: object, depth: int) -> int:
    if not isinstance(content, bool):
        raise MalformedValue
    if not content:
        raise ValidationException(NULL_IS_TRUE, enveloped=True)
    return 1


def _check_string_set(value: dict[str, Any], content: object, depth: int) -> int:
    members = _texts(content, EMPTY_STRING_SET)
    if len(set(members)) < len(members):
        older = f"[{', '.join(members)}]"
        newer = ", ".join(f'"{member}"' for member in _sorted_up_to_repeat(members, str.encode))
        raise InvalidContent(
            f"{INVALID}Input collection {older} contains duplicates.",
            newer=f"{INVALID}Input collection [{newer}] contains duplicates.",
            enveloped=True,
        )
    members.sort()  # code points sort like their UTF-8 bytes
    return sum(map(text_bytes, members))


def _check_number_set(value: dict[str, Any], content: object, depth: int) -> int:
    members = _texts(content, EMPTY_NUMBER_SET)
    members[:] = map(number.normalise, members)
    if len(set(members)) < len(members):
        raise InvalidContent(
            "Input collection contains duplicates",
            newer=f"{INVALID}Input collection contains duplicates.",
            enveloped=True,
        )
    members.sort(key=Decimal)
    return sum(map(number.size_bytes, members))


def _check_binary_set(value: dict[str, Any], content: object, depth: int) -> int:
    members = _texts(content, EMPTY_BINARY_SET)
    size_bytes = sum(len(binary.decode(member)) for member in members)
    if len(set(members)) < len(members):
        older = f"[{', '.join(members)}]"
        newer = ",".join(f'"{member}"' for member in _sorted_up_to_repeat(members, binary.decode))
        raise InvalidContent(
            f"{INVALID}Input collection {older}of type BS contains duplicates.",
            newer=f"{INVALID}Input collection [{newer}]of type BS contains duplicates.",
            enveloped=True,
        )
    members.sort(key=binary.decode)
    return size_bytes


def _check_list(value: dict[str, Any], content: object, depth: int) -> int:
    if not isinstance(content, list):
        raise MalformedValue
    total = CONTAINER_BYTES + ELEMENT_BYTES * len(content)
    for element in content:
        if total > HOPELESS_BYTES:
            raise Oversized(TOO_LARGE)
        total += check_value(element, depth + 1)
    return total


def _check_map(value: dict[str, Any], content: object, depth: int) -> int:
    if not isinstance(content, dict):
        raise MalformedValue
    return CONTAINER_BYTES + ELEMENT_BYTES * len(content) + _check_members(content, depth + 1)


def _texts(content: object, empty: str) -> list[str]:
    """The members of a set as sent: a list of strings, not empty."""
    if not isinstance(content, list):
        raise MalformedValue
    if not content:
        raise ValidationException(empty, enveloped=True)
    if len(content) > HOPELESS_ELEMENTS:
        raise Oversized(TOO_LARGE)
    for member in content:
        if not isinstance(member, str):
            raise MalformedValue
    return content


def _sorted_up_to_repeat(members: list[str], key: Callable[[str], bytes]) -> list[str]:
    """How the newer wording lists a set: sorted until a member was met again, from there on as it was sent."""
    seen: set[str] = set()
    for position, member in enumerate(members):
        if member in seen:
            return sorted(members[:position], key=key) + members[position:]
        seen.add(member)
    raise AssertionError("only a set with a repeated member is listed")


_CHECKS: dict[str, Callable[[dict[str, Any], Any, int], int]] = {
    "S": _check_string,
    "N": _check_number,
    "B": _check_binary,
    "BOOL": _check_boolean,
    "NULL": _check_null,
    "SS": _check_string_set,
    "NS": _check_number_set,
    "BS": _check_binary_set,
    "L": _check_list,
    "M": _check_map,
}
