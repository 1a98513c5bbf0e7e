"""The fast answer to "is this request all right?": Python source written from a shape, compiled at first use.

Nearly every request is in order, and a walk over the model would cost more than the rest of a GetItem. So each
structure becomes one function of straight-line checks which says only yes or no; whatever it does not know at once
to be right goes to the slow walk, which also finds the words. For a GetItem the source reads

    def request_GetItemInput(r):
        try:
            v1 = r["TableName"]
            if not rule_TableNameOrArn[v1]: return False
            v1 = r["Key"]
            if type(v1) is not dict: return False
            left = len(r) - 2
            if not left: return True
            if "AttributesToGet" in r: ...
            return not left
        except (KeyError, TypeError): return False

A missing member is a KeyError and an unhashable one a TypeError. Counting what is left over finds unknown members.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hashrange.validation import wording
from hashrange.validation.constraints import all_texts, broken
from hashrange.validation.schema import Schema, Shape

Check = Callable[[dict[str, Any]], bool]

REMEMBERED_MAX = 1024
REMEMBERED_LENGTH_MAX = 255


class Remembered(dict[Any, bool]):
    """Which texts satisfy a shape, for shapes with a pattern: the same few names come again and again."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape

    def __missing__(self, text: Any) -> bool:
        if type(text) is not str or broken(self.shape, text):
            return False
        if len(self) < REMEMBERED_MAX and len(text) <= REMEMBERED_LENGTH_MAX:
            self[text] = True
        return True


class Compiler:
    """Writes and compiles the checks of one service; structures that operations share are compiled once."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._names: dict[str, Any] = {}  # the globals of the compiled functions

    def check_of(self, shape: Shape) -> Check:
        """The compiled check of an operation's input."""
        body = "\n".join(f"        {line}" for line in self._structure_lines(shape))
        name = f"request_{shape.name}"
        source = f"def {name}(r):\n    try:\n{body}\n    except (KeyError, TypeError): return False\n"
        return self._compiled(name, source)

    def _compiled(self, name: str, source: str) -> Check:
        exec(compile(source, f"<plausible {name}>", "exec"), self._names)
        check: Check = self._names[name]
        return check

    def _structure_function(self, shape: Shape) -> str:
        """The name of the function that checks an inner structure."""
        name = f"structure_{shape.name}"
        if name not in self._names:
            body = "\n".join(f"    {line}" for line in self._structure_lines(shape))
            self._compiled(name, f"def {name}(r):\n{body}\n")
        return name

    def _structure_lines(self, shape: Shape) -> list[str]:
        lines: list[str] = []
        for name in shape.required:
            lines += [f"v1 = r[{name!r}]", *self._lines(self._schema.shape(shape.members[name]), depth=1)]
        for (structure, name), excuse in wording.REQUIRED_UNLESS.items():
            if structure == shape.name:
                lines.append(f"if {name!r} not in r and {excuse!r} not in r: return False")
        lines += [f"left = len(r) - {len(shape.required)}", "if not left: return True"]
        for name, member in shape.members.items():
            if name not in shape.required:
                checks = ["left -= 1", f"v1 = r[{name!r}]", *self._lines(self._schema.shape(member), depth=1)]
                lines += [f"if {name!r} in r:", *indented(checks)]
        return [*lines, "return not left"]

    def _lines(self, shape: Shape, depth: int) -> list[str]:
        """Checks of the variable `v<depth>`, each of which returns False when it fails."""
        value = f"v{depth}"
        if shape.kind == "structure":
            lines = [f"if type({value}) is not dict: return False"]
            if shape.name != wording.ATTRIBUTE_VALUE:
                lines.append(f"if not {self._structure_function(shape)}({value}): return False")
            return lines
        if shape.kind in ("list", "map"):
            return self._collection_lines(shape, depth)
        if shape.matches is not None:
            return [f"if not {self._named('rule', shape, Remembered(shape))}[{value}]: return False"]
        if shape.enum:
            return [f"if {value} not in {self._named('enum', shape, frozenset(shape.enum))}: return False"]
        return [f"if not ({SCALARS[shape.kind].format(value)}): return False", *self._bound_lines(shape, value)]

    def _collection_lines(self, shape: Shape, depth: int) -> list[str]:
        value = f"v{depth}"
        container = "dict" if shape.kind == "map" else "list"
        lines = [f"if type({value}) is not {container}: return False", *self._bound_lines(shape, value)]
        if self._schema.holds_attribute_values(shape):
            return lines
        assert shape.element is not None
        element = self._lines(self._schema.shape(shape.element), depth + 1)
        if shape.kind == "list":
            return [*lines, f"for v{depth + 1} in {value}:", *indented(element)]
        return [*lines, *self._key_lines(shape, depth), f"for v{depth + 1} in {value}.values():", *indented(element)]

    def _key_lines(self, shape: Shape, depth: int) -> list[str]:
        """Checks of a map's keys, which JSON already promises to be texts."""
        assert shape.key is not None
        key = self._schema.shape(shape.key)
        if not all_texts(key):
            return []
        return [f"for v{depth + 1} in v{depth}:", *indented(self._lines(key, depth + 1))]

    def _bound_lines(self, shape: Shape, value: str) -> list[str]:
        measure = value if shape.kind in ("integer", "long", "double") else f"len({value})"
        lines = []
        if shape.minimum is not None:
            lines.append(f"if {measure} < {shape.minimum}: return False")
        if shape.maximum is not None:
            lines.append(f"if {measure} > {shape.maximum}: return False")
        return lines

    def _named(self, prefix: str, shape: Shape, content: object) -> str:
        """A name under which the compiled functions see an object."""
        name = f"{prefix}_{shape.name}"
        self._names.setdefault(name, content)
        return name


SCALARS = {
    "string": "type({0}) is str",
    "boolean": "{0} is True or {0} is False",
    "integer": "type({0}) is int",
    "long": "type({0}) is int",
    "double": "type({0}) is float or type({0}) is int",
    "timestamp": "type({0}) is float or type({0}) is int",
}


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
