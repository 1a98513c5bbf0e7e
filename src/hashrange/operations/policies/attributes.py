"""The attributes that a request names, wherever it names them: what `dynamodb:Attributes` holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from hashrange.expressions.ast import NamePlaceholder, Node, PathElement
from hashrange.expressions.kinds import Kind
from hashrange.expressions.parse_condition import parse_condition
from hashrange.expressions.parse_projection import parse_projection
from hashrange.expressions.parse_update import parse_update
from hashrange.expressions.walk import paths_in
from hashrange.operations.items.actions import check_item_size

NAMED_BY_KEYS = (
    "Key",
    "Item",
    "ExclusiveStartKey",
    "AttributeUpdates",
    "Expected",
    "KeyConditions",
    "QueryFilter",
    "ScanFilter",
)
EXPRESSIONS: dict[str, tuple[Kind, Callable[[str, Kind], Node]]] = {
    "ConditionExpression": (Kind.CONDITION, parse_condition),
    "FilterExpression": (Kind.FILTER, parse_condition),
    "KeyConditionExpression": (Kind.KEY_CONDITION, parse_condition),
    "ProjectionExpression": (Kind.PROJECTION, parse_projection),
    "UpdateExpression": (Kind.UPDATE, parse_update),
}
EXPRESSIONS_REMEMBERED = 1024


def attributes_of(members: Mapping[str, Any]) -> Iterator[str]:
    """The names of top-level attributes that the members of a request mention. Some may come twice.

    A broken expression raises what the operation itself would say about it.
    """
    names_bytes = sum(map(len, members.get("Item") or ()))
    check_item_size(names_bytes)  # more than an item can have would also take too long to compare
    for member in NAMED_BY_KEYS:
        yield from members.get(member) or ()
    yield from members.get("AttributesToGet") or ()
    names = members.get("ExpressionAttributeNames") or {}
    for member in EXPRESSIONS:
        if member in members:
            for element in first_elements(member, members[member]):
                if isinstance(element, NamePlaceholder):
                    if element.text in names:  # one that is not defined makes the request fail
                        yield names[element.text]
                else:
                    yield str(element)


@lru_cache(maxsize=EXPRESSIONS_REMEMBERED)
def first_elements(member: str, text: str) -> tuple[PathElement, ...]:
    """What the paths of an expression begin with."""
    kind, parse = EXPRESSIONS[member]
    return tuple(dict.fromkeys(path.elements[0] for path in paths_in(parse(text, kind))))
