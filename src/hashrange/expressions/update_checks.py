"""The rules for updates that need names and values.

Each rule goes over the whole expression before the next begins: names defined, values defined, targets apart,
operand types of ADD and DELETE, then the operands of functions and arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hashrange.expressions.ast import AddAction, Arithmetic, DeleteAction, Function, Operand, UpdateNode
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
)
from hashrange.expressions.kinds import Kind
from hashrange.expressions.paths import Names, bound, check_apart, check_names_defined
from hashrange.expressions.walk import walk
from hashrange.values.types import LONG_NAMES, SET_TYPES

ADD_TYPES = SET_TYPES | {"N"}
NUMBER_ONLY = frozenset({"N"})
LIST_ONLY = frozenset({"L"})


def update_checks(root: UpdateNode, names: Names, kind: Kind) -> Checks:
    return collected(_rules(root, names, kind))


def _rules(root: UpdateNode, names: Names, kind: Kind) -> Iterator[Check]:
    check_names_defined(root, names, kind)
    yield from values_defined(root, kind)
    check_apart([bound(action.target, names) for action in root.actions], kind, enveloped=True)
    for action in root.actions:
        if isinstance(action, AddAction):
            yield from _action_type("ADD", action.value, ADD_TYPES, kind)
        elif isinstance(action, DeleteAction):
            yield from _action_type("DELETE", action.value, SET_TYPES, kind)
    for node in walk(root):
        if isinstance(node, Function):
            yield from _function(node, kind)
        elif isinstance(node, Arithmetic):
            yield from operand_type(node.operator, node.left, NUMBER_ONLY, kind)
            yield from operand_type(node.operator, node.right, NUMBER_ONLY, kind)


def _action_type(name: str, operand: Operand, allowed: frozenset[str], kind: Kind) -> Iterable[Check]:
    constant = constant_of(operand)
    if constant is None:
        return ()

    def check(values: Values) -> None:
        type_code = type_of(constant(values))
        if type_code not in allowed:
            raise kind.error(
                "Incorrect operand type for operator or function; "
                f"operator: {name}, operand type: {LONG_NAMES[type_code]}"
            )

    return (check,)


def _function(function: Function, kind: Kind) -> Iterator[Check]:
    check_operand_count(function, kind)
    check_first_is_path(function, kind)
    if function.name == "list_append":
        for argument in function.arguments:
            yield from operand_type("list_append", argument, LIST_ONLY, kind)
