"""Items as text Ion, the way exports have them: one value to a line.

    $ion_1_0 {Item:{id:"a",price:10.99,count:3.,tags:$dynamodb_SS::["new","red"],photo:{{AQI=}}}}

Strings, booleans, lists and maps are Ion's own. Numbers are decimals (an integer ends in a point), binary values are
blobs, and sets are lists with an annotation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hashrange.values.types import Attributes, AttributeValue

VERSION_MARKER = "$ion_1_0"
SET_ANNOTATIONS = {"SS": "$dynamodb_SS", "NS": "$dynamodb_NS", "BS": "$dynamodb_BS"}

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")  # those that start with a dollar sign may mean something to Ion
_KEYWORDS = frozenset(("null", "true", "false", "nan"))
_ESCAPED = re.compile(r"[\x00-\x1f\"'\\\x7f]")
_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "'": r"\'", "\\": r"\\"}


def line(members: dict[str, str]) -> str:
    """One line of a file: a struct of values that are Ion already."""
    return f"{VERSION_MARKER} {struct(members)}\n"


def struct(members: dict[str, str]) -> str:
    return "{" + ",".join(f"{symbol(name)}:{value}" for name, value in members.items()) + "}"


def attributes(item: Attributes) -> str:
    """An item, a key or a map."""
    return struct({name: value(each) for name, each in item.items()})


def value(attribute: AttributeValue) -> str:
    for kind, content in attribute.items():
        return _WRITERS[kind](content)
    raise AssertionError("a normalised value has a type")


def symbol(name: str) -> str:
    """The name of a member, in quotes if it is not a plain word."""
    if _IDENTIFIER.fullmatch(name) and name not in _KEYWORDS:
        return name
    return f"'{_escape(name)}'"


def string(text: str) -> str:
    return f'"{_escape(text)}"'


def number(canonical: str) -> str:
    return canonical if "." in canonical else canonical + "."


def blob(base64: str) -> str:
    return "{{" + base64 + "}}"


def _escape(text: str) -> str:
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[0]) or f"\\x{ord(match[0]):02x}", text)


def _set(annotation: str, write: Callable[[str], str]) -> Callable[[list[str]], str]:
    return lambda members: f"{annotation}::[{','.join(map(write, members))}]"


def _list(elements: list[AttributeValue]) -> str:
    return f"[{','.join(map(value, elements))}]"


def _boolean(content: bool) -> str:
    return "true" if content else "false"


_WRITERS: dict[str, Callable[[Any], str]] = {
    "S": string,
    "N": number,
    "B": blob,
    "BOOL": _boolean,
    "NULL": lambda content: "null",
    "SS": _set(SET_ANNOTATIONS["SS"], string),
    "NS": _set(SET_ANNOTATIONS["NS"], number),
    "BS": _set(SET_ANNOTATIONS["BS"], blob),
    "L": _list,
    "M": attributes,
}
