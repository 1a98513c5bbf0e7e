"""The values that the actions of an update compute, each from the item as it was before.

A computation answers the new value of its target, or None if the target shall be absent afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from hashrange.errors import ValidationException
from hashrange.expressions.ast import (
    Action,
    AddAction,
    Arithmetic,
    Constant,
    DeleteAction,
    Function,
    Operand,
    Path,
    RemoveAction,
    SetAction,
    ValuePlaceholder,
)
from hashrange.expressions.checks import Values
from hashrange.expressions.paths import Names, bound, look_up
from hashrange.values import binary, number
from hashrange.values.types import SET_TYPES, Attributes, AttributeValue

MISSING_ATTRIBUTE = "The provided expression refers to an attribute that does not exist in the item"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"
WRONG_TYPE_LEGACY = "Type mismatch for attribute to update"

Value = Callable[[Attributes, Values], AttributeValue]
Computation = Callable[[Attributes, Values], AttributeValue | None]

_SORT_KEYS: dict[str, Callable[[str], Any] | None] = {"SS": None, "NS": Decimal, "BS": binary.decode}


def computation(action: Action, names: Names) -> Computation:
    match action:
        case SetAction(_, value):
            return _value(value, names)
        case RemoveAction():
            return lambda attributes, values: None
        case AddAction(_, value, legacy):
            return _combined(action.target, value, names, _added, legacy=legacy)
        case DeleteAction(_, value, legacy):
            return _combined(action.target, value, names, _without, legacy=legacy)


def _value(operand: Operand, names: Names) -> Value:
    match operand:
        case Path():
            return _stored(operand, names)
        case ValuePlaceholder(text):
            return lambda attributes, values: values[text]
        case Constant(constant):
            return lambda attributes, values: constant
        case Arithmetic(operator, left, right):
            operation = number.add if operator == "+" else number.subtract
            return _arithmetic(operation, _value(left, names), _value(right, names))
        case Function("if_not_exists", (Path() as path, default)):
            return _if_not_exists(path, _value(default, names), names)
        case Function("list_append", (first, second)):
            return _list_append(_value(first, names), _value(second, names))
        case _:
            raise AssertionError(f"not a value of an update: {operand}")


def _stored(path: Path, names: Names) -> Value:
    steps = bound(path, names)

    def value(attributes: Attributes, values: Values) -> AttributeValue:
        stored = look_up(attributes, steps)
        if stored is None:
            raise ValidationException(MISSING_ATTRIBUTE)
        return stored

    return value


def _if_not_exists(path: Path, default: Value, names: Names) -> Value:
    steps = bound(path, names)

    def value(attributes: Attributes, values: Values) -> AttributeValue:
        stored = look_up(attributes, steps)
        return default(attributes, values) if stored is None else stored

    return value


def _arithmetic(operation: Callable[[str, str], str], left_of: Value, right_of: Value) -> Value:
    def value(attributes: Attributes, values: Values) -> AttributeValue:
        left, right = left_of(attributes, values), right_of(attributes, values)
        if "N" not in left or "N" not in right:
            raise ValidationException(WRONG_TYPE)
        return {"N": operation(left["N"], right["N"])}

    return value


def _list_append(first_of: Value, second_of: Value) -> Value:
    def value(attributes: Attributes, values: Values) -> AttributeValue:
        first, second = first_of(attributes, values), second_of(attributes, values)
        if "L" not in first or "L" not in second:
            raise ValidationException(WRONG_TYPE)
        return {"L": first["L"] + second["L"]}

    return value


def _combined(
    target: Path,
    operand: Operand,
    names: Names,
    combine: Callable[[AttributeValue | None, AttributeValue, bool], AttributeValue | None],
    *,
    legacy: bool,
) -> Computation:
    """ADD and DELETE: what is stored and an operand make one value."""
    steps = bound(target, names)
    operand_of = _value(operand, names)
    return lambda attributes, values: combine(look_up(attributes, steps), operand_of(attributes, values), legacy)


def _added(stored: AttributeValue | None, operand: AttributeValue, legacy: bool) -> AttributeValue | None:
    if stored is None:
        return operand
    for type_code, content in operand.items():
        if type_code not in stored:
            break
        if type_code == "N":
            return {"N": number.add(stored["N"], content)}
        if type_code in SET_TYPES:
            return {type_code: _sorted_set({*stored[type_code], *content}, type_code)}
        if type_code == "L" and legacy:
            return {"L": stored["L"] + content}
    raise ValidationException(WRONG_TYPE_LEGACY if legacy else WRONG_TYPE)


def _without(stored: AttributeValue | None, operand: AttributeValue, legacy: bool) -> AttributeValue | None:
    if stored is None:
        return None
    for type_code, content in operand.items():
        if type_code in SET_TYPES and type_code in stored:
            removed = frozenset(content)
            left = [member for member in stored[type_code] if member not in removed]
            return {type_code: left} if left else None
    raise ValidationException(WRONG_TYPE_LEGACY if legacy else WRONG_TYPE)


def _sorted_set(members: set[str], type_code: str) -> list[str]:
    return sorted(members, key=_SORT_KEYS[type_code])
