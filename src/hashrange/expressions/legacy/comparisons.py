"""One condition of the older kind: an attribute, a ComparisonOperator and its arguments.

The arguments are checked in the service's order: the values themselves, their number, that they are of one type,
that the operator takes this type, and the bounds of BETWEEN.
"""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.errors import ValidationException
from hashrange.expressions.ast import (
    And,
    Between,
    Comparison,
    ConditionNode,
    Constant,
    Function,
    Not,
    Or,
    Path,
)
from hashrange.expressions.checks import type_of
from hashrange.values.attribute import INVALID, check_value
from hashrange.values.compare import compare
from hashrange.values.types import AttributeValue

COMPARATORS = {"EQ": "=", "NE": "<>", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}

ARGUMENT_COUNTS = {"NULL": 0, "NOT_NULL": 0, "BETWEEN": 2}  # IN takes any number but none, the others one

_SCALARS = frozenset({"S", "N", "B"})
ARGUMENT_TYPES = {  # EQ and NE take all
    **dict.fromkeys(("LT", "LE", "GT", "GE", "BETWEEN", "IN", "CONTAINS", "NOT_CONTAINS"), _SCALARS),
    "BEGINS_WITH": frozenset({"S", "B"}),
}

CONTAINERS = {"S": ("S", "SS", "L"), "N": ("NS", "L"), "B": ("B", "BS", "L")}  # what can contain a scalar

REVERSED_BOUNDS = "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"


def check_arguments(operator: str, arguments: Sequence[AttributeValue]) -> None:
    """Check the arguments of a condition and normalise them in place."""
    for argument in arguments:
        check_value(argument)
    _check_count(operator, len(arguments))
    if not arguments:
        return
    type_code = type_of(arguments[0])
    if any(type_code not in argument for argument in arguments):
        raise invalid("AttributeValues inside AttributeValueList must be of same type")
    allowed = ARGUMENT_TYPES.get(operator)
    if allowed is not None and type_code not in allowed:
        raise invalid(f"ComparisonOperator {operator} is not valid for {type_code} AttributeValue type")
    if operator == "BETWEEN" and compare(arguments[0], arguments[1]) == 1:
        raise ValidationException(REVERSED_BOUNDS, enveloped=True)


def _check_count(operator: str, count: int) -> None:
    is_right = count > 0 if operator == "IN" else count == ARGUMENT_COUNTS.get(operator, 1)
    if not is_right:
        raise invalid(f"Invalid number of argument(s) for the {operator} ComparisonOperator")


def invalid(detail: str) -> ValidationException:
    """The refusal of a parameter of the older kind."""
    return ValidationException(INVALID + detail, enveloped=True)


def comparison(attribute: str, operator: str, arguments: Sequence[AttributeValue]) -> ConditionNode:
    """The tree of a condition whose arguments were checked."""
    path = Path((attribute,))
    match operator:
        case "NULL":
            return Function("attribute_not_exists", (path,))
        case "NOT_NULL":
            return Function("attribute_exists", (path,))
        case "IN":
            return _is_in(path, arguments)
        case "BETWEEN":
            return Between(path, Constant(arguments[0]), Constant(arguments[1]))
        case "BEGINS_WITH":
            return Function("begins_with", (path, Constant(arguments[0])))
        case "CONTAINS":
            return Function("contains", (path, Constant(arguments[0])))
        case "NOT_CONTAINS":
            return _contains_not(path, arguments[0])
        case _:
            return Comparison(COMPARATORS[operator], path, Constant(arguments[0]))


def _is_in(path: Path, options: Sequence[AttributeValue]) -> ConditionNode:
    """Whether the options, which are scalars of one type, contain the attribute.

    Unlike IN in an expression this has no limit to the number of options, so they are looked up, not tried in turn.
    """
    type_code = type_of(options[0])
    content = frozenset(option[type_code] for option in options)
    return Function("contains", (Constant({f"{type_code}S": content}), path))


def _contains_not(path: Path, argument: AttributeValue) -> ConditionNode:
    """True only of attributes that could have contained the argument: not of missing ones or those of other types."""
    could_contain = Or(
        tuple(
            Function("attribute_type", (path, Constant({"S": type_code})))
            for type_code in CONTAINERS[type_of(argument)]
        )
    )
    return And((could_contain, Not(Function("contains", (path, Constant(argument))))))
