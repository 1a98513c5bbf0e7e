"""What PartiQL statements do to items, as policies see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from hashrange.auth.policy.context import Values
from hashrange.operations.partiql.find import value_of
from hashrange.operations.policies.access import EVERY, SPECIFIC, Access, texts_of
from hashrange.partiql import Delete, Exists, Insert, Prepared, Select, UpdateStatement, prepare
from hashrange.partiql.where import KeyUse, Meaning, Where

ACTIONS = {
    Select: "dynamodb:PartiQLSelect",
    Exists: "dynamodb:PartiQLSelect",
    Insert: "dynamodb:PartiQLInsert",
    UpdateStatement: "dynamodb:PartiQLUpdate",
    Delete: "dynamodb:PartiQLDelete",
}


def prepared_statement(members: Mapping[str, Any]) -> Prepared:
    """The statement of a request, whose parameters stay as they were sent."""
    return prepare(members["Statement"], deepcopy(members.get("Parameters")))


class Stated(Access):
    """What one statement does. `prepare_with` must be called before anything is asked."""

    _prepared: Prepared

    def prepare_with(self, prepared: Prepared) -> Stated:
        self._prepared = prepared
        return self

    @property
    def _select(self) -> Select | None:
        body = self._prepared.body
        return body.select if isinstance(body, Exists) else body if isinstance(body, Select) else None

    def _where(self) -> Where | None:
        body = self._select or self._prepared.body
        return None if isinstance(body, Insert | Exists) else body.where

    def _use(self) -> KeyUse | None:
        """What the WHERE clause says of the key; None if there is no clause to look at, or no table."""
        where, source = self._where(), self.source()
        if where is None or source is None:
            return None
        return where.for_key(source.partition[0][0], source.sort[0][0] if source.sort else None, Meaning.FILTER)

    def _values_of(self, attribute: str) -> Iterator[str]:
        if self._prepared.item is not None:
            yield from texts_of(self._prepared.item.get(attribute))
        use = self._use()
        for operand in () if use is None else use.partition_values:
            yield from texts_of(value_of(operand, self._prepared.values))

    def _names(self) -> Iterator[str]:
        yield from self._prepared.item or ()
        yield from self._where_names()
        body, select = self._prepared.body, self._select
        if select is not None:
            yield from () if select.projection is None else select.projection.top_level_names
            yield from (key.name for key in select.order)
        elif isinstance(body, UpdateStatement):
            yield from body.alteration.top_level_names

    def _where_names(self) -> Iterator[str]:
        use, source = self._use(), self.source()
        if use is None or source is None:
            return
        if use.partition_values:
            yield source.partition[0][0]
        if use.sort is not None:
            yield use.sort.attribute
        if use.condition is not None:
            yield from use.condition.top_level_names

    def select(self) -> Values | None:
        select = self._select
        return None if select is None else (EVERY if select.projection is None else SPECIFIC,)

    def return_values(self) -> Values | None:
        body = self._prepared.body
        if not isinstance(body, UpdateStatement | Delete):
            return None
        shown = self._members.get("ReturnValuesOnConditionCheckFailure", "NONE")
        return (body.returning if shown == "NONE" else shown,)

    def is_full_scan(self) -> Values | None:
        use = self._use()
        if self._select is None or use is None:
            return None
        return ("false" if use.partition_values else "true",)
