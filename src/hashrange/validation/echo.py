"""A value as the service's Java code prints it: `[a, b]`, `{tbl=[...]}`, `KeySchemaElement(attributeName=pk, ...)`."""

from __future__ import annotations

from typing import Any

from hashrange.limits import NESTING_LEVELS_MAX
from hashrange.validation import wording
from hashrange.validation.schema import Schema, Shape
from hashrange.values import binary

# A request of 16 MB must not become an error message many times that size.
ECHO_LENGTH_MAX = 100_000


def lower_camel(name: str) -> str:
    """A member's name in Java: `KeySchema` becomes `keySchema`, `SSEType` becomes `sSEType`."""
    return name[:1].lower() + name[1:]


def echo(schema: Schema, shape: Shape, value: Any) -> str:
    parts = _Parts(schema)
    parts.add(shape, value, level=0)
    return "".join(parts.texts)


class _Parts:
    """The pieces of one echo, collected until there are enough of them."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.texts: list[str] = []
        self.length = 0

    def write(self, text: str) -> None:
        self.texts.append(text)
        self.length += len(text)

    def add(self, shape: Shape, value: Any, level: int) -> None:
        if self.length > ECHO_LENGTH_MAX or level > NESTING_LEVELS_MAX:
            return
        if value is None:
            self.write("null")
        elif shape.kind in ("map", "list") and shape.is_hopeless(len(value)):
            self.write("...")
        elif shape.kind == "structure":
            self._add_structure(shape, value, level + (shape.name == wording.ATTRIBUTE_VALUE))
        elif shape.kind == "map":
            self._add_map(shape, value, level)
        elif shape.kind == "list":
            self._add_list(shape, value, level)
        else:
            self.write(scalar_text(shape, value))

    def _add_structure(self, shape: Shape, value: dict[str, Any], level: int) -> None:
        self.write(shape.name)
        for position, (name, member) in enumerate(shape.members.items()):
            self.write(f"{', ' if position else '('}{lower_camel(name)}=")
            self.add(self.schema.shape(member), value.get(name), level)
        self.write(")")

    def _add_map(self, shape: Shape, value: dict[str, Any], level: int) -> None:
        assert shape.element is not None
        element = self.schema.shape(shape.element)
        self.write("{")
        for position, (key, content) in enumerate(value.items()):
            self.write(f"{', ' if position else ''}{key}=")
            self.add(element, content, level)
        self.write("}")

    def _add_list(self, shape: Shape, value: list[Any], level: int) -> None:
        assert shape.element is not None
        element = self.schema.shape(shape.element)
        self.write("[")
        for position, content in enumerate(value):
            self.write(", " if position else "")
            self.add(element, content, level)
        self.write("]")


def scalar_text(shape: Shape, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if shape.kind == "blob":
        size = len(binary.decode(value))
        return f"java.nio.HeapByteBuffer[pos=0 lim={size} cap={size}]"
    if shape.kind == "double":
        return str(float(value))
    return str(value)
