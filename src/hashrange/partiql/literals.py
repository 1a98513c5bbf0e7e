"""Constants of a statement: values written out, with parameters anywhere inside them.

A literal without parameters is an attribute value at once. The others are kept as they were written and become
values when a request brings its parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hashrange.errors import ValidationException
from hashrange.values.types import AttributeValue

EMPTY_SET = "Empty bags are not supported"
MIXED_SET = "Bags must contain elements of one type: string, number or binary"

_SET_TYPES = {"S": "SS", "N": "NS", "B": "BS"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """`?`: one of the request's parameters, counted from zero."""

    number: int


@dataclass(frozen=True, slots=True)
class ListLiteral:
    elements: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class MapLiteral:
    members: Mapping[str, Literal]


@dataclass(frozen=True, slots=True)
class SetLiteral:
    elements: tuple[Literal, ...]


Literal = AttributeValue | Parameter | ListLiteral | MapLiteral | SetLiteral


def list_of(elements: Sequence[Literal]) -> Literal:
    constants = [element for element in elements if isinstance(element, dict)]
    return {"L": constants} if len(constants) == len(elements) else ListLiteral(tuple(elements))


def map_of(members: dict[str, Literal]) -> Literal:
    constants = {name: member for name, member in members.items() if isinstance(member, dict)}
    return {"M": constants} if len(constants) == len(members) else MapLiteral(members)


def set_of(elements: Sequence[Literal]) -> Literal:
    constants = [element for element in elements if isinstance(element, dict)]
    return set_value(constants) if len(constants) == len(elements) else SetLiteral(tuple(elements))


def set_value(members: Sequence[AttributeValue]) -> AttributeValue:
    """The set of scalars of one type, not yet normalised."""
    if not members:
        raise ValidationException(EMPTY_SET)
    types = {type_code for member in members for type_code in member}
    type_code = next(iter(types))
    if len(types) > 1 or type_code not in _SET_TYPES:
        raise ValidationException(MIXED_SET)
    return {_SET_TYPES[type_code]: [member[type_code] for member in members]}


def build(literal: Literal, parameters: Sequence[AttributeValue]) -> AttributeValue:
    """The value of a literal, its parameters put in."""
    match literal:
        case Parameter(number):
            return parameters[number]
        case ListLiteral(elements):
            return {"L": [build(element, parameters) for element in elements]}
        case MapLiteral(members):
            return {"M": {name: build(member, parameters) for name, member in members.items()}}
        case SetLiteral(elements):
            return set_value([build(element, parameters) for element in elements])
        case _:
            return literal
