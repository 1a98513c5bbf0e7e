"""What statements do to single items, as actions of the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hashrange.engine.table import ItemChange, Table
from hashrange.engine.units import read_units
from hashrange.errors import DuplicateItemException, ValidationException
from hashrange.expressions import Condition
from hashrange.expressions import Prepared as Expressions
from hashrange.expressions.checks import Values
from hashrange.operations.items.actions import Action, Change, Check, Delete, Put, new_put
from hashrange.operations.items.update_item import returned_values
from hashrange.operations.partiql.find import pinned_key, use_of
from hashrange.partiql import statements
from hashrange.partiql.prepare import Prepared
from hashrange.partiql.projection import FlatProjection
from hashrange.partiql.where import Meaning, Where
from hashrange.values.item import Item
from hashrange.values.types import Attributes

KEY_REQUIRED = "Where clause does not contain a mandatory equality on all key attributes"

ActionMaker = Callable[[Table], Action]


@dataclass(slots=True)
class Insert(Put):
    """Create an item; unlike a put it never replaces one."""

    def apply(self, table: Table, old: Item | None, now_micros: int) -> Item:
        if old is not None:
            raise DuplicateItemException()
        return Put.apply(self, table, old, now_micros)


def action_maker(prepared: Prepared, *, shows_old: bool) -> ActionMaker:
    """How to make the action of an INSERT, UPDATE or DELETE once its table is known."""
    body, values = prepared.body, prepared.values
    match body:
        case statements.Insert():
            assert prepared.item is not None
            put = new_put(body.table.name, prepared.item)
            insert = Insert(put.table_name, put.attributes, put.json, put.size_bytes)
            return lambda table: insert
        case statements.UpdateStatement():
            return lambda table: _change(table, body, values, shows_old)
        case statements.Delete():
            return lambda table: _delete(table, body, values, shows_old)
        case _:
            raise AssertionError(f"not a write: {body}")


def _change(table: Table, update: statements.UpdateStatement, values: Values, shows_old: bool) -> Change:
    """UPDATE changes what is there: without the item it fails like a condition."""
    key, condition = _key_and_condition(table, update.where, values, Meaning.EXISTING)
    expressions = Expressions(update=update.alteration.update, condition=condition, values=values)
    return Change(update.table.name, key, expressions, shows_old, counts_actions=False)


def _delete(table: Table, delete: statements.Delete, values: Values, shows_old: bool) -> Delete:
    """DELETE of an item that is not there succeeds, whatever else its clause says."""
    key, condition = _key_and_condition(table, delete.where, values, Meaning.IF_EXISTING)
    return Delete(delete.table.name, key, Expressions(condition=condition, values=values), shows_old)


def _key_and_condition(
    table: Table, where: Where, values: Values, meaning: Meaning
) -> tuple[Attributes, Condition | None]:
    use = use_of(where, table, meaning)
    key = pinned_key(table, use, values)
    if key is None:
        raise ValidationException(KEY_REQUIRED)
    return key, use.condition


def check_of(table: Table, exists: statements.Exists, values: Values, *, shows_old: bool) -> Check | None:
    """The check that EXISTS stands for; None unless it pins one item and says something more of it."""
    use = use_of(exists.select.where, table, Meaning.EXISTING)
    key = pinned_key(table, use, values)
    if key is None or not use.has_rest:
        return None
    return Check(exists.table.name, key, Expressions(condition=use.condition, values=values), shows_old)


def returned_items(body: statements.Body, outcome: ItemChange) -> list[Any]:
    """What RETURNING asks for, as the Items of the answer."""
    returned = None
    if isinstance(body, statements.UpdateStatement):
        returned = returned_values(body.returning, body.alteration.update, outcome.old, outcome.new)
    elif isinstance(body, statements.Delete):
        returned = returned_values(body.returning, None, outcome.old, None)
    return [] if returned is None else [returned]


@dataclass(frozen=True, slots=True)
class ItemRead:
    """A SELECT that pins one item."""

    table_name: str
    key: Attributes
    condition: Condition | None
    values: Values
    projection: FlatProjection | None

    def locate(self, table: Table) -> bytes:
        return table.key.of_key(self.key)

    def shown(self, item: Item | None) -> Any:
        """What the statement shows of the item; None if it is not there or does not satisfy the clause."""
        if item is None or (self.condition is not None and not self.condition(item.attributes, self.values)):
            return None
        return item.fragment if self.projection is None else self.projection(item.attributes)

    def units(self, item: Item | None, *, consistent: bool) -> float:
        return read_units(0 if item is None else item.size_bytes, consistent=consistent)


def item_read(table: Table, select: statements.Select, values: Values) -> ItemRead | None:
    """The single item that a SELECT reads; None if it may be several, or none by its key."""
    if select.table.index is not None:
        return None
    use = use_of(select.where, table, Meaning.FILTER)
    key = pinned_key(table, use, values)
    if key is None:
        return None
    return ItemRead(select.table.name, key, use.condition, values, select.projection)
