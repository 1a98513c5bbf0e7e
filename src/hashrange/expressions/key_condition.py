"""Key conditions: the part of a partition that a query reads.

A key condition is written in the grammar of conditions but may only say `attribute = :value` for the partition key
and one simple range for the sort key. That shape is checked before the table is known. What remains is a list of
clauses, which `resolve` holds against the key of the table or index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hashrange.errors import EmptyKeyValue, ValidationException
from hashrange.expressions.ast import (
    And,
    Between,
    Comparison,
    ConditionNode,
    Function,
    Leaf,
    Membership,
    Not,
    Operand,
    Or,
    Path,
)
from hashrange.expressions.checks import Values, constant_of
from hashrange.expressions.kinds import Kind
from hashrange.expressions.paths import Names, bound
from hashrange.values.types import AttributeValue

INVALID_OPERATOR = "Invalid operator used in KeyConditionExpression: "
INVALID_CONDITION = "Invalid condition in KeyConditionExpression: "
TYPE_MISMATCH = "One or more parameter values were invalid: Condition parameter type does not match schema type"
NOT_SUPPORTED = "Query key condition not supported"

MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}  # what `:value < attribute` says of the attribute


@dataclass(frozen=True, slots=True)
class KeyClause:
    """What is asked of one key attribute: an operator (=, <, <=, >, >=, BETWEEN, begins_with) and constants."""

    attribute: str
    operator: str
    operands: tuple[Operand, ...]


class KeyRange(NamedTuple):
    """What a query reads: one partition and, in it, the sort keys that begin with `sort_values` and whose next
    attribute satisfies the operator. Without operator it is all that begin so."""

    partition_values: tuple[AttributeValue, ...]
    sort_values: tuple[AttributeValue, ...] = ()
    operator: str | None = None
    operands: tuple[AttributeValue, ...] = ()


class Constants(NamedTuple):
    """A clause whose constants only wait for the values of a request."""

    attribute: str
    operator: str
    constants: tuple[Callable[[Values], AttributeValue], ...]

    @classmethod
    def of(cls, clause: KeyClause) -> Constants:
        return cls(clause.attribute, clause.operator, tuple(map(_constant, clause.operands)))

    def operands(self, types: Mapping[str, str], values: Values) -> tuple[AttributeValue, ...]:
        """The values, which must be possible ones of the attribute."""
        found = []
        type_code = types[self.attribute]
        for constant in self.constants:
            value = constant(values)
            if type_code not in value:
                raise ValidationException(TYPE_MISMATCH)
            if not value[type_code]:
                raise EmptyKeyValue.of(self.attribute, type_code)
            found.append(value)
        return tuple(found)


def _constant(operand: Operand) -> Callable[[Values], AttributeValue]:
    constant = constant_of(operand)
    assert constant is not None
    return constant


class Fitted(NamedTuple):
    """The clauses of a key condition in the order of a key that they fit."""

    hash_names: tuple[str, ...]
    range_names: tuple[str, ...]
    partition: tuple[Constants, ...]
    sort: tuple[Constants, ...]


class KeyCondition:
    """The conditions on single key attributes, in source order.

    The shape of an expression is refused only when `check_shape` is called, because the service first looks at the
    other expressions of the request.
    """

    __slots__ = ("_fitted", "_refusal", "clauses")

    def __init__(self, root: ConditionNode, names: Names) -> None:
        self.clauses: tuple[KeyClause, ...] = ()
        self._refusal: ValidationException | None = None
        self._fitted: Fitted | None = None  # to the key that it met last, which is most often the only one
        try:
            self.clauses = _clauses(root, names)
        except ValidationException as error:
            self._refusal = error.with_traceback(None)

    @classmethod
    def of_clauses(cls, clauses: Sequence[KeyClause]) -> KeyCondition:
        """A key condition that was not written as an expression."""
        condition = cls(And(()), {})
        condition.clauses = tuple(clauses)
        return condition

    def check_shape(self) -> None:
        refusal = self._refusal
        if refusal is not None:
            raise ValidationException(refusal.message or "", newer=refusal.newer)

    def resolve(
        self,
        *,
        hash_names: tuple[str, ...],
        range_names: tuple[str, ...],
        types: Mapping[str, str],
        values: Values,
    ) -> KeyRange:
        """The range that is meant in a table or index with this key. `types` maps key attributes to S, N or B."""
        fitted = self._fitted
        if fitted is None or fitted.hash_names != hash_names or fitted.range_names != range_names:
            fitted = self._fitted = self._fit(hash_names, range_names)
        partition_values = tuple([clause.operands(types, values)[0] for clause in fitted.partition])
        if not fitted.sort:
            return KeyRange(partition_values)
        sort_operands = [clause.operands(types, values) for clause in fitted.sort]
        if fitted.sort[-1].operator != "=":
            leading = tuple(operands[0] for operands in sort_operands[:-1])
            return KeyRange(partition_values, leading, fitted.sort[-1].operator, sort_operands[-1])
        return KeyRange(partition_values, tuple(operands[0] for operands in sort_operands))

    def _fit(self, hash_names: tuple[str, ...], range_names: tuple[str, ...]) -> Fitted:
        clauses = {clause.attribute: clause for clause in self.clauses}
        _check_count(len(clauses), len(hash_names) + len(range_names))
        for name in hash_names:
            if name not in clauses:
                raise _missed(name)
        if any(clauses[name].operator != "=" for name in hash_names):
            raise ValidationException(NOT_SUPPORTED)
        partition = tuple(Constants.of(clauses[name]) for name in hash_names)
        sort = tuple(map(Constants.of, _sort_clauses(clauses, hash_names, range_names)))
        return Fitted(hash_names, range_names, partition, sort)


def _clauses(root: ConditionNode, names: Names) -> tuple[KeyClause, ...]:
    clauses: dict[str, KeyClause] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        match node:
            case And(conditions):
                waiting.extend(reversed(conditions))
            case Or():
                raise ValidationException(INVALID_OPERATOR + "OR")
            case Not():
                raise ValidationException(INVALID_OPERATOR + "NOT")
            case _:
                clause = _clause(node, names)
                if clause.attribute in clauses:
                    raise _not_simple("must only contain one condition per key")
                clauses[clause.attribute] = clause
    return tuple(clauses.values())


def _clause(leaf: Leaf, names: Names) -> KeyClause:
    match leaf:
        case Comparison("<>" as operator):
            raise ValidationException(INVALID_OPERATOR + operator)
        case Membership():
            raise ValidationException(INVALID_OPERATOR + "IN")
        case Comparison(operator, left, right):
            if isinstance(left, Path):
                return _clause_of(operator, left, (right,), (left, right), names)
            return _clause_of(MIRRORED[operator], right, (left,), (left, right), names)
        case Between(operand, lower, upper):
            return _clause_of("BETWEEN", operand, (lower, upper), (operand, lower, upper), names)
        case Function("begins_with", (operand, prefix)):
            return _clause_of("begins_with", operand, (prefix,), (operand, prefix), names)
        case Function(name, _):
            raise ValidationException(INVALID_OPERATOR + name)


def _clause_of(
    operator: str, key: Operand, operands: tuple[Operand, ...], written: tuple[Operand, ...], names: Names
) -> KeyClause:
    if any(isinstance(operand, Function) for operand in written):
        raise _not_simple("cannot contain nested operations")
    path_count = sum(isinstance(operand, Path) for operand in written)
    if path_count > 1:
        raise ValidationException(INVALID_CONDITION + "Multiple attribute names used in one condition")
    if path_count == 0:
        raise ValidationException(INVALID_CONDITION + "No key attribute specified")
    if not isinstance(key, Path):
        raise ValidationException(
            f"{INVALID_CONDITION}{operator} operator must have the key attribute as its first operand"
        )
    path = bound(key, names)
    if len(path) > 1:
        raise _not_simple("cannot have conditions on nested attributes")
    return KeyClause(str(path[0]), operator, operands)


def _not_simple(rule: str) -> ValidationException:
    text = f"KeyConditionExpressions {rule}"
    return ValidationException(text, newer=f"Invalid {Kind.KEY_CONDITION}: {text}")


def _check_count(conditions: int, key_attributes: int) -> None:
    """One attribute too many is left to the rules about the key; the classic key has two."""
    if conditions > max(2, key_attributes):
        raise ValidationException(
            "Conditions can be of length 1 or 2 only",
            newer=f"The number of query conditions ({conditions}) exceeds the number of key attributes "
            f"defined in the schema ({key_attributes})",
        )


def _missed(name: str) -> ValidationException:
    return ValidationException(f"Query condition missed key schema element: {name}")


def _sort_clauses(
    clauses: Mapping[str, KeyClause], hash_names: tuple[str, ...], range_names: tuple[str, ...]
) -> list[KeyClause]:
    """The clauses on sort key attributes, in key order: equality on all but the last, and no gaps."""
    others = [name for name in clauses if name not in hash_names]
    if others and not range_names:
        raise ValidationException(NOT_SUPPORTED)
    if any(name not in range_names for name in others):
        raise _missed(next((name for name in range_names if name not in clauses), range_names[0]))
    used = [name for name in range_names if name in clauses]
    if not used:
        return []
    last = used[-1]
    before = range_names[: range_names.index(last)]
    unequal = [name for name in before if name not in clauses or clauses[name].operator != "="]
    if unequal:
        raise ValidationException(
            f"RANGE key attributes {', '.join(unequal)} must have equality conditions specified in the query "
            f"because a condition is present on key attribute {last}"
        )
    return [clauses[name] for name in used]
