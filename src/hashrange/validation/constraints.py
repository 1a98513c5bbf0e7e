"""The constraints of the model: what is required, how long, how large, which pattern, which of a set of texts.

A request that breaks some is answered with a list of all of them. Here they are found; `message` words the list.
The inside of attribute values has no constraints of this kind: `values` checks it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from hashrange.validation import wording
from hashrange.validation.echo import lower_camel
from hashrange.validation.schema import Schema, Shape


class Path(NamedTuple):
    """Where a value stands in the request, as the two wordings print it and as the tables of `wording` name it."""

    older: str = ""  # keySchema.1.member.keyType
    newer: str = ""  # KeySchema.1.member.KeyType
    members: str = ""  # KeySchema.KeyType

    def member(self, name: str) -> Path:
        return Path(_joined(self.older, lower_camel(name)), _joined(self.newer, name), _joined(self.members, name))

    def element(self, key: object) -> Path:
        return Path(f"{self.older}.{key}.member", f"{self.newer}.{key}.member", self.members)


def _joined(start: str, name: str) -> str:
    return f"{start}.{name}" if start else name


THE_REQUEST = Path()


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken constraint: at which place, of which shape, by which value (None if it is missing)."""

    path: Path
    shape: Shape
    value: Any
    constraint: str  # null, min, max, pattern, enum, bounds, or which parts of a collection broke theirs
    text: str


def violations(
    schema: Schema, structure: Shape, given: dict[str, Any], path: Path = THE_REQUEST
) -> Iterator[Violation]:
    """Everything that is wrong with a structure of the right types, members in the order of the service."""
    for name in wording.MEMBER_ORDER.get(structure.name, tuple(structure.members)):
        shape = schema.shape(structure.members[name])
        if name in given:
            yield from _of_value(schema, shape, given[name], path.member(name))
        elif is_required(structure, name, given):
            yield Violation(path.member(name), shape, None, "null", "Member must not be null")


def is_required(structure: Shape, name: str, given: dict[str, Any]) -> bool:
    excuse = wording.REQUIRED_UNLESS.get((structure.name, name))
    return name in structure.required or (excuse is not None and excuse not in given)


def _of_value(schema: Schema, shape: Shape, value: Any, path: Path) -> Iterator[Violation]:
    for constraint, text in broken(shape, value):
        yield Violation(path, shape, value, constraint, text)
    if shape.kind == "structure":
        if shape.name != wording.ATTRIBUTE_VALUE:
            yield from violations(schema, shape, value, path)
    elif shape.kind in ("list", "map") and not schema.holds_attribute_values(shape):
        yield from _of_collection(schema, shape, value, path)


def _of_collection(schema: Schema, shape: Shape, value: Any, path: Path) -> Iterator[Violation]:
    """Keys and elements without parts of their own are told at the collection, the others each at its own place."""
    if shape.is_hopeless(len(value)):
        return
    assert shape.element is not None
    element = schema.shape(shape.element)
    is_map = shape.kind == "map"
    if is_map and shape.key is not None:
        key = schema.shape(shape.key)
        if any(broken(key, text) for text in value):
            yield Violation(path, shape, value, "keys", f"Map keys must satisfy constraint: [{all_texts(key)}]")
    if element.kind != "structure" and any(broken(element, part) for part in (value.values() if is_map else value)):
        place = "Map value" if is_map else "Member"
        yield Violation(path, shape, value, "elements", f"{place} must satisfy constraint: [{all_texts(element)}]")
    if element.kind in ("structure", "list"):
        for name, part in value.items() if is_map else enumerate(value, start=1):
            yield from _inside(schema, element, part, path.element(name))


def _inside(schema: Schema, element: Shape, part: Any, path: Path) -> Iterator[Violation]:
    if element.kind == "list":
        yield from _of_collection(schema, element, part, path)
    elif element.name != wording.ATTRIBUTE_VALUE:
        yield from violations(schema, element, part, path)


def broken(shape: Shape, value: Any) -> list[tuple[str, str]]:
    """The constraints that a value itself breaks, with their texts, in the order in which they are told."""
    if shape.arn_allowed and value.startswith("arn:") and len(value) <= wording.ARN_LENGTH_MAX:
        return []
    found = []
    if shape.matches is not None and not shape.is_hopeless(len(value)) and shape.matches.fullmatch(value) is None:
        found.append(("pattern", _pattern_text(shape)))  # some patterns take the square of a text's length to fail
    if shape.minimum is not None or shape.maximum is not None:
        measure = value if shape.kind in ("integer", "long", "double") else len(value)
        if shape.maximum is not None and measure > shape.maximum:
            found.append(("max", _bound_text(shape, "less", shape.maximum)))
        if shape.minimum is not None and measure < shape.minimum:
            found.append(("min", _bound_text(shape, "greater", shape.minimum)))
    if shape.enum and value not in shape.enum:
        found.append(("enum", _enum_text(shape)))
    if not found and shape.bounds is not None and not shape.bounds[0] <= len(value) <= shape.bounds[1]:
        found.append(("bounds", ""))
    return found


def all_texts(shape: Shape) -> str:
    """Every constraint of a shape, as it is printed when one of a collection's parts breaks any of them."""
    texts = []
    if shape.maximum is not None:
        texts.append(_bound_text(shape, "less", shape.maximum))
    if shape.minimum is not None:
        texts.append(_bound_text(shape, "greater", shape.minimum))
    if shape.pattern is not None:
        texts.append(_pattern_text(shape))
    if shape.enum:
        texts.append(_enum_text(shape))
    return ", ".join(texts)


def _bound_text(shape: Shape, direction: str, bound: int) -> str:
    measure = "value" if shape.kind in ("integer", "long", "double") else "length"
    return f"Member must have {measure} {direction} than or equal to {bound}"


def _pattern_text(shape: Shape) -> str:
    return f"Member must satisfy regular expression pattern: {shape.pattern}"


def _enum_text(shape: Shape) -> str:
    return f"Member must satisfy enum value set: [{', '.join(shape.enum)}]"
