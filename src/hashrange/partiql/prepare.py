"""A statement with the parameters of one request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hashrange.errors import ValidationException
from hashrange.expressions.cache import Cache
from hashrange.expressions.checks import Values
from hashrange.partiql.literals import build
from hashrange.partiql.parse_statement import parse_statement
from hashrange.partiql.statements import Body, Insert, Statement
from hashrange.values.attribute import check_value
from hashrange.values.types import Attributes, AttributeValue

PARAMETER_COUNT = "Number of parameters in request and statement don't match."
ITEM_IS_MAP = "Item to insert must be a tuple"

_STATEMENTS: Cache[Statement] = Cache()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement that passed every check that needs no table. `item` is what INSERT puts, yet to be checked."""

    body: Body
    values: Values
    item: Attributes | None = None


def prepare(text: str, parameters: Sequence[Any] | None) -> Prepared:
    """Read a statement and put its parameters in. They are normalised in place."""
    statement = _statement(text)
    given = parameters or ()
    if len(given) != statement.parameter_count:
        raise ValidationException(PARAMETER_COUNT)
    for parameter in given:
        check_value(parameter)
    values: dict[str, AttributeValue] = {f"?{number}": parameter for number, parameter in enumerate(given)}
    for placeholder, template in statement.templates.items():
        value = values[placeholder] = build(template, given)
        check_value(value)
    body = statement.body
    body.check(values)
    return Prepared(body, values, _item(body, given) if isinstance(body, Insert) else None)


def _statement(text: str) -> Statement:
    statement = _STATEMENTS.get(text)
    if statement is None:
        statement = parse_statement(text)
        _STATEMENTS.put(text, statement, len(text))
    return statement


def _item(insert: Insert, parameters: Sequence[AttributeValue]) -> Attributes:
    item: Attributes | None = build(insert.item, parameters).get("M")
    if item is None:
        raise ValidationException(ITEM_IS_MAP)
    return item
