"""How many bytes an item counts for: against the 400 KB limit, against capacity units and pages.

The rules are the service's own and have little to do with how an item is stored. Everything here trusts its
argument to be normalised; `values.attribute` counts the same sizes while it checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hashrange.values import binary, number
from hashrange.values.types import Attributes, AttributeValue

CONTAINER_BYTES = 3  # a list or map costs this, empty or not
ELEMENT_BYTES = 1  # and this for each element


def text_bytes(text: str) -> int:
    """Length in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def size_of(value: AttributeValue) -> int:
    """Size of one value, without the name of the attribute that holds it."""
    for type_code, content in value.items():
        return _SIZES[type_code](content)
    raise AssertionError("a normalised value has a type")


def size_of_attributes(attributes: Attributes) -> int:
    """Size of an item or a key: all names and values."""
    total = 0
    for name, value in attributes.items():
        total += text_bytes(name) + size_of(value)
    return total


def growth_of(before: Attributes, after: Attributes, names: Iterable[str]) -> int:
    """By how much an item grows in which only the attributes of these names have changed."""
    total = 0
    for name in names:
        old, new = before.get(name), after.get(name)
        if new is not None:
            total += text_bytes(name) + size_of(new)
        if old is not None:
            total -= text_bytes(name) + size_of(old)
    return total


def _one_byte(content: bool) -> int:
    return 1


def _string_set(content: list[str]) -> int:
    return sum(map(text_bytes, content))


def _number_set(content: list[str]) -> int:
    return sum(map(number.size_bytes, content))


def _binary_set(content: list[str]) -> int:
    return sum(map(binary.size_bytes, content))


def _list(content: list[AttributeValue]) -> int:
    return CONTAINER_BYTES + ELEMENT_BYTES * len(content) + sum(map(size_of, content))


def _map(content: Attributes) -> int:
    return CONTAINER_BYTES + ELEMENT_BYTES * len(content) + size_of_attributes(content)


_SIZES: dict[str, Callable[[Any], int]] = {
    "S": text_bytes,
    "N": number.size_bytes,
    "B": binary.size_bytes,
    "BOOL": _one_byte,
    "NULL": _one_byte,
    "SS": _string_set,
    "NS": _number_set,
    "BS": _binary_set,
    "L": _list,
    "M": _map,
}
