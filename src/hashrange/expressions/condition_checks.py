"""The rules for conditions that need names and values.

They go condition by condition in source order, and within one: names defined, values defined, number of operands,
operands distinct, operand types, bounds of BETWEEN.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hashrange.errors import ValidationException
from hashrange.expressions.ast import Between, Comparison, ConditionNode, Function, Leaf, Membership, Operand, Path
from hashrange.expressions.checks import (
    Check,
    Checks,
    Values,
    check_first_is_path,
    check_operand_count,
    collected,
    constant_of,
    operand_type,
    type_of,
    values_defined,
    wrong_operand_count,
    wrong_operand_type,
)
from hashrange.expressions.kinds import Kind
from hashrange.expressions.paths import Names, bound, check_names_defined, printed
from hashrange.expressions.walk import leaves, walk
from hashrange.limits import EXPRESSION_IN_OPERANDS_MAX
from hashrange.values.compare import compare
from hashrange.values.types import TYPE_CODES, AttributeValue

ORDERING = frozenset({"<", "<=", ">", ">="})
ORDERED_TYPES = frozenset({"S", "N", "B"})
FIRST_OPERAND_TYPES = {
    "begins_with": frozenset({"S", "B"}),
    "contains": frozenset({"S", "B", "SS", "NS", "BS", "L"}),
    "size": frozenset({"S", "B", "SS", "NS", "BS", "L", "M"}),
}
SECOND_OPERAND_TYPES = {
    "begins_with": frozenset({"S", "B"}),
    "attribute_type": frozenset({"S"}),
}
# The service prints these sets in the order of its own hash table, which differs between the two messages.
ANY_TYPE = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"
VALID_TYPE_NAMES = "{B,NULL,SS,BOOL,L,BS,N,NS,S,M}"


def condition_checks(root: ConditionNode, names: Names, kind: Kind) -> Checks:
    return collected(check for leaf in leaves(root) for check in _leaf_checks(leaf, names, kind))


def _leaf_checks(leaf: Leaf, names: Names, kind: Kind) -> Iterator[Check]:
    check_names_defined(leaf, names, kind)
    yield from values_defined(leaf, kind)
    functions = [node for node in walk(leaf) if isinstance(node, Function)]
    _check_counts(leaf, functions, kind)
    for function in functions:
        check_first_is_path(function, kind)
    _check_distinct(leaf, names, kind)
    yield from _type_checks(leaf, kind)


def _check_counts(leaf: Leaf, functions: list[Function], kind: Kind) -> None:
    if isinstance(leaf, Membership) and 1 + len(leaf.options) > EXPRESSION_IN_OPERANDS_MAX:
        raise wrong_operand_count("IN", 1 + len(leaf.options), kind)
    for function in functions:
        check_operand_count(function, kind)


def _check_distinct(leaf: Leaf, names: Names, kind: Kind) -> None:
    operator, operands = _operator_and_operands(leaf)
    first = operands[0]
    if operator == "attribute_type" or not isinstance(first, Path):
        return
    path = bound(first, names)
    if any(isinstance(operand, Path) and bound(operand, names) == path for operand in operands[1:]):
        raise kind.error(
            "The first operand must be distinct from the remaining operands for this operator or function; "
            f"operator: {operator}, first operand: {printed(path)}"
        )


def _operator_and_operands(leaf: Leaf) -> tuple[str, tuple[Operand, ...]]:
    match leaf:
        case Comparison(operator, left, right):
            return operator, (left, right)
        case Between(operand, lower, upper):
            return "BETWEEN", (operand, lower, upper)
        case Membership(operand, options):
            return "IN", (operand, *options)
        case Function(name, arguments):
            return name, arguments


def _type_checks(leaf: Leaf, kind: Kind) -> Iterator[Check]:
    operator, operands = _operator_and_operands(leaf)
    for position, operand in enumerate(operands):
        if isinstance(operand, Function):  # size, with an operand of its own
            yield from operand_type("size", operand.arguments[0], FIRST_OPERAND_TYPES["size"], kind)
        allowed = _allowed_types(operator, position)
        if allowed is not None:
            yield from operand_type(operator, operand, allowed, kind)
    if isinstance(leaf, Between):
        yield from _bounds(leaf, kind)
    elif operator == "attribute_type":
        yield from _type_name(operands[1], kind)


def _allowed_types(operator: str, position: int) -> frozenset[str] | None:
    if operator in ORDERING or operator == "BETWEEN":
        return ORDERED_TYPES
    return (FIRST_OPERAND_TYPES if position == 0 else SECOND_OPERAND_TYPES).get(operator)


def _type_name(operand: Operand, kind: Kind) -> Iterable[Check]:
    constant = constant_of(operand)
    if constant is None:
        raise wrong_operand_type("attribute_type", ANY_TYPE, kind)

    def check(values: Values) -> None:
        name = constant(values)["S"]
        if name not in TYPE_CODES:
            raise kind.error(f"Invalid attribute type name found; type: {name}, valid types: {VALID_TYPE_NAMES}")

    return (check,)


def _bounds(between: Between, kind: Kind) -> Iterable[Check]:
    lower_of, upper_of = constant_of(between.lower), constant_of(between.upper)
    if lower_of is None or upper_of is None:
        return ()

    def check(values: Values) -> None:
        lower, upper = lower_of(values), upper_of(values)
        order = compare(lower, upper)
        if order is None:
            raise _bad_bounds("same data type for lower and upper bounds", lower, upper, kind)
        if order > 0:
            raise _bad_bounds("upper bound to be greater than or equal to lower bound", lower, upper, kind)

    return (check,)


def _bad_bounds(rule: str, lower: AttributeValue, upper: AttributeValue, kind: Kind) -> ValidationException:
    return kind.error(
        f"The BETWEEN operator requires {rule}; "
        f"lower bound operand: {_shown(lower)}, upper bound operand: {_shown(upper)}"
    )


def _shown(value: AttributeValue) -> str:
    type_code = type_of(value)
    return f"AttributeValue: {{{type_code}:{value[type_code]}}}"
