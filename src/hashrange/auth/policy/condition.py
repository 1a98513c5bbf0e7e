"""One condition of a statement: an operator, a condition key, and the values that the policy gives for it.

A request may have no value for the key, one, or several, as LeadingKeys and Attributes do. `ForAllValues:` asks that
every value passes and is content when there are none; `ForAnyValue:` asks for one that does. Without either of them a
condition is about a single value. Where a request has several all the same, the condition is read in the way that lets
less happen: to allow something all of them have to pass, and to deny it one is enough. So is a condition that would
take too long to check.

A missing key fails the condition, except where the operator is negated (what is not there differs from everything) or
ends in `IfExists`.
"""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.auth.policy.context import Context, Values
from hashrange.auth.policy.operators import BOOLEANS, COMPARISONS, Comparison, Test

FOR_ALL = "forallvalues:"
FOR_ANY = "foranyvalue:"
IF_EXISTS = "ifexists"
NULL = "null"
EQUALITIES = ("stringequals", "stringnotequals")

# Whoever writes a policy and whoever sends a request could keep a server busy for minutes with thousands of patterns
# for thousands of names. This many characters take some tenths of a second.
COMPARED_CHARACTERS_MAX = 4_000_000
COMPARISON_CHARACTERS = 32  # what a comparison costs however short its text is


class UnknownOperator(Exception):
    """There is no such condition operator."""


class Condition:
    """A condition, ready to be held against requests. `operator` and `key` are as written."""

    __slots__ = (
        "_allows",
        "_holds_if_missing",
        "_is_negated",
        "_is_null",
        "_key",
        "_literals",
        "_needs_all",
        "_tests",
        "key",
        "operator",
        "values",
    )

    def __init__(self, operator: str, key: str, values: Sequence[str], *, variables: bool, allows: bool) -> None:
        self.operator = operator
        self.key = key
        self.values = tuple(values)
        self._key = key.lower()
        name, quantifier, if_exists = taken_apart(operator)
        self._is_null: tuple[bool, ...] = ()
        self._tests: tuple[Test, ...] = ()
        self._literals: frozenset[str] = frozenset()
        self._is_negated = False
        if name == NULL:
            self._is_null = tuple(BOOLEANS[value.lower()] for value in values)
        else:
            comparison = comparison_of(name)
            self._is_negated = comparison.is_negated
            if name in EQUALITIES:  # a request may name a hundred thousand attributes: those are looked up
                self._literals = frozenset(value for value in values if not variables or "${" not in value)
            others = (value for value in values if value not in self._literals)
            self._tests = tuple(comparison.test_of(value, variables) for value in others)
        self._allows = allows
        self._needs_all = quantifier == FOR_ALL or (quantifier == "" and allows)
        negated_holds = self._is_negated and quantifier == ""
        self._holds_if_missing = if_exists or quantifier == FOR_ALL or negated_holds

    def holds(self, context: Context) -> bool:
        values = context.get(self._key)
        if self._is_null:
            return (values is None) in self._is_null
        if values is None:
            return self._holds_if_missing
        if self._tests and self._is_too_much(values):
            return not self._allows
        passed = (self._passes(value, context) for value in values)
        return all(passed) if self._needs_all else any(passed)

    def _passes(self, value: str, context: Context) -> bool:
        """Whether one value of the request equals one of the policy's; or, negated, none of them."""
        is_equal = value in self._literals or any(test(value, context) for test in self._tests)
        return is_equal is not self._is_negated

    def _is_too_much(self, values: Values) -> bool:
        characters = sum(map(len, values)) + COMPARISON_CHARACTERS * len(values)
        return characters * len(self._tests) > COMPARED_CHARACTERS_MAX

    def seen(self, context: Context) -> Values | None:
        """The values of the request that the condition is about."""
        return context.get(self._key)


def taken_apart(operator: str) -> tuple[str, str, bool]:
    """The plain operator in lower case, the quantifier before it, and whether `IfExists` follows it."""
    name = operator.lower()
    quantifier = next((prefix for prefix in (FOR_ALL, FOR_ANY) if name.startswith(prefix)), "")
    name = name[len(quantifier) :]
    return name.removesuffix(IF_EXISTS), quantifier, name.endswith(IF_EXISTS)


def comparison_of(name: str) -> Comparison:
    comparison = COMPARISONS.get(name)
    if comparison is None:
        raise UnknownOperator
    return comparison
