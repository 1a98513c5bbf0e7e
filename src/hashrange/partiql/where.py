"""WHERE clauses: what they say of a key, and what they say besides.

Which attributes are the key is known only with the table or index, so a clause is taken apart once for each key it
meets. Conditions on the key that a read can use as the range it reads are set aside; the rest is a condition that
every item met has to satisfy.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from hashrange.errors import ValidationException
from hashrange.expressions.ast import (
    And,
    Between,
    Comparison,
    ConditionNode,
    Function,
    Membership,
    Operand,
    Or,
    Path,
)
from hashrange.expressions.checks import Check, Values, constant_of, wrong_operand_count
from hashrange.expressions.condition import Condition
from hashrange.expressions.condition_checks import condition_checks
from hashrange.expressions.key_condition import MIRRORED, KeyClause
from hashrange.expressions.kinds import Kind
from hashrange.limits import PARTIQL_PARTITION_VALUES_MAX

OVERLAPPING = "Overlapping conditions with range keys are not supported in where clause"
KEYS_REMEMBERED = 8


class Meaning(Enum):
    """What the rest of a clause is for."""

    FILTER = "items that do not satisfy it are left out"
    EXISTING = "the item has to exist and satisfy it"
    IF_EXISTING = "the item has to satisfy it if it exists"


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A clause held against a key. Without `partition_values` it does not say which partition to read."""

    partition_values: tuple[Operand, ...]
    sort: KeyClause | None
    has_rest: bool
    condition: Condition | None


class Where:
    """A WHERE clause, which may be absent."""

    __slots__ = ("_checks", "_root", "_uses")

    def __init__(self, root: ConditionNode | None) -> None:
        self._root = root
        self._uses: dict[tuple[str, str | None, Meaning], KeyUse] = {}
        self._checks: tuple[Check, ...] | None = () if root is None else None

    @property
    def is_absent(self) -> bool:
        return self._root is None

    def check(self, values: Values) -> None:
        """Refuse what is wrong with the clause whatever the table."""
        if self._checks is None:
            assert self._root is not None
            self._checks = condition_checks(self._root, {}, Kind.STATEMENT).run
        for check in self._checks:
            check(values)

    def for_key(self, partition: str, sort: str | None, meaning: Meaning) -> KeyUse:
        """What the clause says of the key with these attributes; it must have passed its checks."""
        key = (partition, sort, meaning)
        use = self._uses.get(key)
        if use is None:
            if len(self._uses) >= KEYS_REMEMBERED:
                self._uses.clear()
            use = self._uses[key] = self._taken_apart(partition, sort, meaning)
        return use

    def _taken_apart(self, partition: str, sort: str | None, meaning: Meaning) -> KeyUse:
        rest = conjuncts(self._root)
        values: tuple[Operand, ...] = ()
        for node in rest:
            values = _values_of(node, partition)
            if values:
                rest.remove(node)
                break
        if len(values) > PARTIQL_PARTITION_VALUES_MAX:
            raise wrong_operand_count("IN", 1 + len(values), Kind.STATEMENT)
        clause = None
        if values and sort is not None:
            clause, rest = _sort_clause(rest, sort)
        return KeyUse(values, clause, bool(rest), _condition(rest, partition, meaning))


def conjuncts(root: ConditionNode | None) -> list[ConditionNode]:
    """The conditions that all have to hold, in source order."""
    found: list[ConditionNode] = []
    waiting = [] if root is None else [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, And):
            waiting.extend(reversed(node.conditions))
        else:
            found.append(node)
    return found


def _values_of(node: ConditionNode, name: str) -> tuple[Operand, ...]:
    """The constants one of which an attribute has to equal, if that is all that a condition says; else nothing."""
    match node:
        case Membership(Path((first,)), options) if first == name:
            return options if all(map(_is_constant, options)) else ()
        case Or(conditions):
            alternatives = [_values_of(condition, name) for condition in conditions]
            return tuple(value for values in alternatives for value in values) if all(alternatives) else ()
        case Comparison():
            clause = _clause(node, name)
            return clause.operands if clause is not None and clause.operator == "=" else ()
        case _:
            return ()


def _sort_clause(conditions: list[ConditionNode], name: str) -> tuple[KeyClause | None, list[ConditionNode]]:
    """The one condition on the sort key that a range can be made of, and the conditions that are left."""
    found: KeyClause | None = None
    rest: list[ConditionNode] = []
    for node in conditions:
        clause = _clause(node, name)
        if clause is None:
            rest.append(node)
        elif found is None:
            found = clause
        else:
            raise ValidationException(OVERLAPPING)
    return found, rest


def _clause(node: ConditionNode, name: str) -> KeyClause | None:
    match node:
        case Comparison(operator, Path((first,)), right) if first == name:
            return _of_constants(name, operator, right) if operator in MIRRORED else None
        case Comparison(operator, left, Path((first,))) if first == name:
            return _of_constants(name, MIRRORED[operator], left) if operator in MIRRORED else None
        case Between(Path((first,)), lower, upper) if first == name:
            return _of_constants(name, "BETWEEN", lower, upper)
        case Function("begins_with", (Path((first,)), prefix)) if first == name:
            return _of_constants(name, "begins_with", prefix)
        case _:
            return None


def _of_constants(name: str, operator: str, *operands: Operand) -> KeyClause | None:
    return KeyClause(name, operator, operands) if all(map(_is_constant, operands)) else None


def _is_constant(operand: Operand) -> bool:
    return constant_of(operand) is not None


def _condition(rest: list[ConditionNode], partition: str, meaning: Meaning) -> Condition | None:
    key = Path((partition,))  # an item has its key; what has none does not exist
    if meaning is Meaning.EXISTING:
        return Condition(And((Function("attribute_exists", (key,)), *rest)), {})
    if not rest:
        return None
    satisfied = And(tuple(rest))
    if meaning is Meaning.IF_EXISTING:
        return Condition(Or((Function("attribute_not_exists", (key,)), satisfied)), {})
    return Condition(satisfied, {})
