"""The rules that need the request's names and values, as a list of checks that is made once per expression.

Rules about names are decided when an expression meets its ExpressionAttributeNames; rules about values can only be
decided for each request. Both are reported in one order, so a broken rule about names becomes the last check of
the list instead of being raised before the values in front of it were looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from hashrange.errors import ValidationException
from hashrange.expressions.ast import Constant, Function, Node, Operand, Path, ValuePlaceholder
from hashrange.expressions.kinds import Kind
from hashrange.expressions.walk import value_placeholders_in
from hashrange.values.types import AttributeValue

Values = Mapping[str, AttributeValue]
Check = Callable[[Values], None]

OPERAND_COUNTS = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
    "size": 1,
    "if_not_exists": 2,
    "list_append": 2,
}
FIRST_IS_PATH = frozenset({"attribute_exists", "attribute_not_exists", "attribute_type", "if_not_exists"})
RESULT_TYPES = {"size": "N", "list_append": "L"}


class Checks(NamedTuple):
    """What to run on the values of each request. `is_hopeless` when the last check refuses whatever they are."""

    run: tuple[Check, ...]
    is_hopeless: bool = False


def collected(rules: Iterable[Check]) -> Checks:
    """The checks that `rules` yields; the error that it may raise on the way is the last of them."""
    checks: list[Check] = []
    try:
        for check in rules:
            checks.append(check)  # one by one: those before an error count
    except ValidationException as error:
        checks.append(_refusal(error))
        return Checks(tuple(checks), is_hopeless=True)
    return Checks(tuple(checks))


def _refusal(error: ValidationException) -> Check:
    message, newer, enveloped = error.message or "", error.newer, error.enveloped

    def check(values: Values) -> None:
        raise ValidationException(message, newer=newer, enveloped=enveloped)

    return check


def values_defined(root: Node, kind: Kind) -> Iterable[Check]:
    placeholders = value_placeholders_in(root)

    def check(values: Values) -> None:
        for placeholder in placeholders:
            if placeholder not in values:
                raise kind.error(
                    f"An expression attribute value used in expression is not defined; attribute value: {placeholder}"
                )

    return (check,) if placeholders else ()


def check_operand_count(function: Function, kind: Kind) -> None:
    count = len(function.arguments)
    if count != OPERAND_COUNTS[function.name]:
        raise wrong_operand_count(function.name, count, kind)


def check_first_is_path(function: Function, kind: Kind) -> None:
    if function.name in FIRST_IS_PATH and not isinstance(function.arguments[0], Path):
        raise kind.error(f"Operator or function requires a document path; operator or function: {function.name}")


def wrong_operand_count(name: str, count: int, kind: Kind) -> ValidationException:
    return kind.error(
        "Incorrect number of operands for operator or function; "
        f"operator or function: {name}, number of operands: {count}"
    )


def wrong_operand_type(name: str, type_code: str, kind: Kind) -> ValidationException:
    return kind.error(
        f"Incorrect operand type for operator or function; operator or function: {name}, operand type: {type_code}"
    )


def operand_type(name: str, operand: Operand, allowed: frozenset[str], kind: Kind) -> Iterable[Check]:
    """That an operand whose type is known before the item is read has one that `name` takes."""
    if isinstance(operand, Function):
        result_type = RESULT_TYPES.get(operand.name)
        if result_type is not None and result_type not in allowed:
            raise wrong_operand_type(name, result_type, kind)
    constant = constant_of(operand)
    if constant is None:
        return ()

    def check(values: Values) -> None:
        type_code = type_of(constant(values))
        if type_code not in allowed:
            raise wrong_operand_type(name, type_code, kind)

    return (check,)


def constant_of(operand: Operand) -> Callable[[Values], AttributeValue] | None:
    """How to find the value of a constant operand, which must be defined; None for other operands."""
    match operand:
        case ValuePlaceholder(text):
            return lambda values: values[text]
        case Constant(value):
            return lambda values: value
        case _:
            return None


def type_of(value: AttributeValue) -> str:
    """The type code of a normalised value."""
    return next(iter(value))
