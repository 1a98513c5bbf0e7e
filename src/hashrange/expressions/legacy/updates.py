"""AttributeUpdates: what to put into, add to or delete from single attributes of an item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hashrange.expressions.ast import (
    Action,
    AddAction,
    Constant,
    DeleteAction,
    Path,
    RemoveAction,
    SetAction,
    UpdateNode,
)
from hashrange.expressions.checks import type_of
from hashrange.expressions.legacy.comparisons import invalid
from hashrange.expressions.update import Update
from hashrange.values.attribute import check_attributes
from hashrange.values.types import SET_TYPES, AttributeValue

ADD_TYPES = SET_TYPES | {"N", "L"}


def parse_attribute_updates(updates: Mapping[str, Mapping[str, Any]] | None) -> Update | None:
    """The update that AttributeUpdates ask for; None if they ask for nothing."""
    if not updates:
        return None
    return Update(UpdateNode(tuple(_action(attribute, wanted) for attribute, wanted in updates.items())), {})


def _action(attribute: str, wanted: Mapping[str, Any]) -> Action:
    name, value = wanted.get("Action", "PUT"), wanted.get("Value")
    target = Path((attribute,))
    if value is None:
        if name != "DELETE":
            raise invalid("Only DELETE action is allowed when no attribute value is specified")
        return RemoveAction(target)
    check_attributes({attribute: value})
    return _action_with_value(name, target, value)


def _action_with_value(name: str, target: Path, value: AttributeValue) -> Action:
    type_code, constant = type_of(value), Constant(value)
    if name == "PUT":
        return SetAction(target, constant)
    if name == "ADD":
        if type_code not in ADD_TYPES:
            raise invalid(f"ADD action is not supported for the type {type_code}")
        return AddAction(target, constant, legacy=True)
    if type_code not in SET_TYPES:
        raise invalid(f"DELETE action with value is not supported for the type {type_code}")
    return DeleteAction(target, constant, legacy=True)
