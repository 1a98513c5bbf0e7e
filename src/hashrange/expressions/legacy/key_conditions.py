"""KeyConditions: what a query reads, one condition for each key attribute."""

from __future__ import annotations

from collections.abc import Mapping

from hashrange.errors import ValidationException
from hashrange.expressions.ast import Constant
from hashrange.expressions.checks import Values
from hashrange.expressions.key_condition import KeyClause, KeyCondition, KeyRange
from hashrange.expressions.legacy.comparisons import COMPARATORS, check_arguments
from hashrange.expressions.legacy.conditions import Conditions

# Other operators are legal too, until it is known which attribute is the sort key.
INDEXABLE = {
    **{name: symbol for name, symbol in COMPARATORS.items() if name != "NE"},
    "BETWEEN": "BETWEEN",
    "BEGINS_WITH": "begins_with",
}

NO_CONDITIONS = "Conditions can be of length 1 or 2 only"
NOT_INDEXABLE = "Attempted conditional constraint is not an indexable operation"
CLASSIC_KEY_ATTRIBUTES = 2


def parse_key_conditions(conditions: Conditions) -> KeyCondition:
    """KeyConditions with their arguments checked; `check_shape` and `resolve` do the rest."""
    clauses = []
    for attribute, wanted in conditions.items():
        operator: str = wanted["ComparisonOperator"]
        arguments = wanted.get("AttributeValueList", ())
        check_arguments(operator, arguments)
        clauses.append(KeyClause(attribute, INDEXABLE.get(operator, operator), tuple(map(Constant, arguments))))
    return LegacyKeyCondition.of_clauses(clauses)


class LegacyKeyCondition(KeyCondition):
    """A key condition whose clauses may have any ComparisonOperator, also such as no key can be searched by."""

    __slots__ = ()

    def check_shape(self) -> None:
        if not self.clauses:
            raise ValidationException(NO_CONDITIONS)

    def resolve(
        self,
        *,
        hash_names: tuple[str, ...],
        range_names: tuple[str, ...],
        types: Mapping[str, str],
        values: Values,
    ) -> KeyRange:
        operators = {clause.attribute: clause.operator for clause in self.clauses}
        names_partition = all(operators.get(name) == "=" for name in hash_names)
        fits_key = len(operators) <= max(CLASSIC_KEY_ATTRIBUTES, len(hash_names) + len(range_names))
        if names_partition and fits_key:  # otherwise there is something worse to say
            _check_indexable(operators, range_names)
        return super().resolve(hash_names=hash_names, range_names=range_names, types=types, values=values)


def _check_indexable(operators: Mapping[str, str], range_names: tuple[str, ...]) -> None:
    for name in range_names:
        if name in operators and operators[name] not in INDEXABLE.values():
            raise ValidationException(NOT_INDEXABLE)
