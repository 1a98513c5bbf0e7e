"""All expressions of a request, checked together and made ready.

The order is the service's own: the placeholders themselves, then the expressions one kind after the other, then
placeholders that no expression used, and last the shape of the key condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hashrange.expressions import placeholders
from hashrange.expressions.ast import Node
from hashrange.expressions.cache import Bound, Family
from hashrange.expressions.checks import Values
from hashrange.expressions.condition import Condition
from hashrange.expressions.condition_checks import condition_checks
from hashrange.expressions.key_condition import KeyCondition
from hashrange.expressions.kinds import Kind
from hashrange.expressions.parse_condition import parse_condition
from hashrange.expressions.parse_projection import parse_projection
from hashrange.expressions.parse_update import parse_update
from hashrange.expressions.paths import Names
from hashrange.expressions.projection import Projection, projection_checks
from hashrange.expressions.update import Update
from hashrange.expressions.update_checks import update_checks
from hashrange.values.types import AttributeValue

Tree = TypeVar("Tree", bound=Node)
Compiled = TypeVar("Compiled")

UPDATES = Family(Kind.UPDATE, parse_update, update_checks, Update)
CONDITIONS = Family(Kind.CONDITION, parse_condition, condition_checks, Condition)
KEY_CONDITIONS = Family(Kind.KEY_CONDITION, parse_condition, condition_checks, KeyCondition)
FILTERS = Family(Kind.FILTER, parse_condition, condition_checks, Condition)
PROJECTIONS = Family(Kind.PROJECTION, parse_projection, projection_checks, Projection.of_node)

_NO_NAMES: dict[str, str] = {}
_NO_VALUES: dict[str, AttributeValue] = {}


@dataclass(slots=True)
class Prepared:
    """The expressions of one request, and the values to evaluate them with."""

    update: Update | None = None
    condition: Condition | None = None
    key_condition: KeyCondition | None = None
    filter: Condition | None = None
    projection: Projection | None = None
    values: Mapping[str, AttributeValue] = field(default_factory=dict)


NO_EXPRESSIONS = Prepared()  # for all requests without expressions; nobody changes it


def prepare(
    *,
    names: object | None = None,
    values: object | None = None,
    update: str | None = None,
    condition: str | None = None,
    key_condition: str | None = None,
    filter: str | None = None,
    projection: str | None = None,
    value_expressions: tuple[str, ...] = (),
) -> Prepared:
    """Check the expressions of a request, with all that belongs to them.

    `value_expressions` are the parameters of the operation that may use values, for a message that lists them.
    Values are normalised in place. Raises MalformedValue if names or values have the wrong JSON type.
    """
    if update is None and condition is None and key_condition is None and filter is None:
        if names is None and values is None and projection is None:
            return NO_EXPRESSIONS
        if names is not None and projection is None:
            raise placeholders.names_without_expression()
        if values is not None:
            raise placeholders.values_without_expression(value_expressions)
    known_names = _NO_NAMES if names is None else placeholders.checked_names(names)
    known_values = _NO_VALUES if values is None else placeholders.checked_values(values)
    prepared = Prepared(values=known_values)
    bounds: list[Bound[Any]] = []
    if update is not None:
        prepared.update = _checked(UPDATES, update, known_names, known_values, bounds)
    if condition is not None:
        prepared.condition = _checked(CONDITIONS, condition, known_names, known_values, bounds)
    if key_condition is not None:
        prepared.key_condition = _checked(KEY_CONDITIONS, key_condition, known_names, known_values, bounds)
    if filter is not None:
        prepared.filter = _checked(FILTERS, filter, known_names, known_values, bounds)
    if projection is not None:
        prepared.projection = _checked(PROJECTIONS, projection, known_names, known_values, bounds)
    _check_used(known_names, known_values, bounds)
    if prepared.key_condition is not None:
        prepared.key_condition.check_shape()
    return prepared


def _checked(
    family: Family[Tree, Compiled], text: str, names: Names, values: Values, bounds: list[Bound[Any]]
) -> Compiled:
    """One expression, which has passed its checks; `bounds` collects what it used."""
    bound = family.bind(text, names)
    for check in bound.checks:
        check(values)
    assert bound.compiled is not None
    bounds.append(bound)
    return bound.compiled


def _check_used(names: Names, values: Values, bounds: list[Bound[Any]]) -> None:
    unused_names: Set[str] = names.keys()
    unused_values: Set[str] = values.keys()
    for bound in bounds:
        unused_names -= bound.names
        unused_values -= bound.values
    if unused_names:
        raise placeholders.unused(placeholders.NAMES, (key for key in names if key in unused_names))
    if unused_values:
        raise placeholders.unused(placeholders.VALUES, (key for key in values if key in unused_values))
