"""The four things that can be done to one item: put it, update it, delete it, or only check it.

The single-item operations do one of them; transactions and batches do several. What can be checked without the
table is checked when an action is made; `locate` checks it against the table's keys; `apply` says what becomes of
the item.

None of these objects is changed once it is made. They are not frozen because every write makes some of them, and
frozen ones take three times as long to make.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import orjson

from hashrange.engine.database import Database
from hashrange.engine.keys import INVALID
from hashrange.engine.scope import Scope
from hashrange.engine.table import Changes, ItemChange, Table, require_scalar_keys
from hashrange.engine.units import Consumed, write_units
from hashrange.engine.usage import WRITE, Usage, Use
from hashrange.errors import ConditionalCheckFailedException, DuplicateItemException, ValidationException
from hashrange.expressions import NO_EXPRESSIONS, Condition, Prepared, Update
from hashrange.limits import ITEM_SIZE_BYTES_MAX
from hashrange.storage.interface import Snapshot
from hashrange.values.attribute import TOO_LARGE, check_attributes, check_depth
from hashrange.values.item import Item
from hashrange.values.size import growth_of, size_of, size_of_attributes
from hashrange.values.types import Attributes

NOTHING: Attributes = {}

FALSE_CONDITIONS = (ConditionalCheckFailedException, DuplicateItemException)  # that there is no such item is one too

UPDATED_ITEM_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"

# What an update's own text counts towards the item size limit (observed).
UPDATE_BYTES = 3
WRITING_ACTION_BYTES = 19
CLEARING_ACTION_BYTES = 2


class Located(Protocol):
    """Something about one item of one table."""

    @property
    def table_name(self) -> str: ...

    def locate(self, table: Table) -> bytes:
        """The stored key of the item, after every check against the table's schema."""
        ...


class Action(Located, Protocol):
    """One thing to do to one item."""

    @property
    def prepared(self) -> Prepared:
        """The action's expressions."""
        ...

    @property
    def shows_old(self) -> bool:
        """Whether a failed condition shows the item it met."""
        ...

    @property
    def key_attributes(self) -> Attributes:
        """Attributes that those of the key are among."""
        ...

    def base_key(self, table: Table) -> bytes:
        """The stored key of the item, checked only as a key."""
        ...

    def apply(self, table: Table, old: Item | None, now_micros: int) -> Item | None:
        """What the item becomes."""
        ...

    def request_bytes(self) -> int:
        """What the action counts towards the size of a transaction."""
        ...


def carry_out(
    db: Database, snapshot: Snapshot, scope: Scope, usage: Usage, action: Action, changes: Changes
) -> ItemChange:
    """Find the item, test the condition, and add what has to be written to `changes`; returns what became of it."""
    usage.begin()
    table = db.table(snapshot, scope, action.table_name)
    return carry_out_on(db, usage, table, action.locate(table), snapshot, action, changes)


def carry_out_on(
    db: Database,
    usage: Usage,
    table: Table,
    base_key: bytes,
    snapshot: Snapshot,
    action: Action,
    changes: Changes,
) -> ItemChange:
    """The same for an item that was located before. `changes` must not have cost anything yet."""
    try:
        outcome = decide(table, base_key, snapshot, action, db.clock.micros(), changes)
    except FALSE_CONDITIONS:
        db.spend(usage, failed_check(table, base_key, snapshot, action))
        raise
    db.spend(usage, Use(table, WRITE, changes.consumed, base_key, (action.key_attributes,)))
    return outcome


def failed_check(table: Table, base_key: bytes, snapshot: Snapshot, action: Action) -> Use:
    """A write whose condition is false costs what it would on the item as it is, and nothing on indexes."""
    units = write_units(table.size_of(snapshot, base_key) or 0)
    return Use(table, WRITE, Consumed(units), base_key, (action.key_attributes,))


def decide(
    table: Table, base_key: bytes, snapshot: Snapshot, action: Action, now_micros: int, changes: Changes
) -> ItemChange:
    """What becomes of one item, whatever it costs."""
    old = table.get(snapshot, base_key)
    if action.prepared.condition is not None:
        require_condition(action, action.prepared.condition, old)
    new = action.apply(table, old, now_micros)
    change = ItemChange(table, base_key, old, new)
    table.change(snapshot, change, changes)
    return change


def require_condition(action: Action, condition: Condition, old: Item | None) -> None:
    """Raise if the action's condition is false for the stored item; a missing item has no attributes at all."""
    if condition(old.attributes if old is not None else NOTHING, action.prepared.values):
        return
    if old is not None and action.shows_old:
        raise ConditionalCheckFailedException(Item=old.fragment)
    raise ConditionalCheckFailedException()


@dataclass(slots=True)
class Put:
    """Create an item or replace it whole."""

    table_name: str
    attributes: Attributes
    json: bytes
    size_bytes: int
    prepared: Prepared = field(default_factory=Prepared)
    shows_old: bool = False

    @property
    def key_attributes(self) -> Attributes:
        return self.attributes

    def base_key(self, table: Table) -> bytes:
        return table.key.of_item(self.attributes)

    def locate(self, table: Table) -> bytes:
        base_key = self.base_key(table)
        if table.indexes:
            table.check_index_keys(self.attributes)
        if self.prepared.condition is not None:
            check_condition_paths(table, self.prepared.condition)
        return base_key

    def request_bytes(self) -> int:
        return self.size_bytes

    def apply(self, table: Table, old: Item | None, now_micros: int) -> Item:
        return Item(self.json, self.size_bytes, now_micros, self.attributes)


def new_put(table_name: str, attributes: Attributes) -> Put:
    """An unconditional put of an item that has yet to be checked."""
    size_bytes = check_attributes(attributes)
    check_item_size(size_bytes)
    return Put(table_name, attributes, orjson.dumps(attributes), size_bytes, NO_EXPRESSIONS)


def check_item_size(size_bytes: int) -> None:
    if size_bytes > ITEM_SIZE_BYTES_MAX:
        raise ValidationException(TOO_LARGE)


@dataclass(slots=True)
class Keyed:
    """An action on the item that a key names."""

    table_name: str
    key: Attributes
    prepared: Prepared = field(default_factory=Prepared)
    shows_old: bool = False

    @property
    def key_attributes(self) -> Attributes:
        return self.key

    def base_key(self, table: Table) -> bytes:
        return table.key.of_key(self.key)

    def locate(self, table: Table) -> bytes:
        base_key = self.base_key(table)
        if self.prepared.condition is not None:
            check_condition_paths(table, self.prepared.condition)
        if self.prepared.update is not None:
            check_targets(table, self.prepared.update)
        return base_key

    def request_bytes(self) -> int:
        return size_of_attributes(self.key) + sum(map(size_of, self.prepared.values.values()))


@dataclass(slots=True)
class Delete(Keyed):
    """Delete an item, if it is there."""

    def apply(self, table: Table, old: Item | None, now_micros: int) -> None:
        return None


@dataclass(slots=True)
class Check(Keyed):
    """Test an item and leave it as it is."""

    def apply(self, table: Table, old: Item | None, now_micros: int) -> Item | None:
        return old


@dataclass(slots=True)
class Change(Keyed):
    """Update some attributes of an item, creating it if there is none.

    `counts_actions` is off where only the finished item has to fit, as in transactions.
    """

    counts_actions: bool = True

    def apply(self, table: Table, old: Item | None, now_micros: int) -> Item | None:
        update = self.prepared.update
        if update is None:
            return old or Item.of(dict(self.key), size_of_attributes(self.key), now_micros)
        before = old.attributes if old is not None else self.key
        attributes = update.apply(before, self.prepared.values, exists=old is not None)
        if old is None and not update.creates_item:
            return None
        check_depth(attributes, update.names)
        if table.indexes:
            table.check_index_keys(attributes, by_update=True, computed=update.computed_names)
        size_before = old.size_bytes if old is not None else size_of_attributes(before)
        size_bytes = size_before + growth_of(before, attributes, update.names)
        self._check_size(size_bytes, update)
        return Item.of(attributes, size_bytes, now_micros)

    def _check_size(self, size_bytes: int, update: Update) -> None:
        """The finished item has to fit, and so has the update itself, which counts its actions instead of the key."""
        largest = size_bytes
        if self.counts_actions:
            actions_bytes = (
                UPDATE_BYTES
                + WRITING_ACTION_BYTES * update.writing_actions
                + CLEARING_ACTION_BYTES * update.clearing_actions
            )
            if size_bytes + actions_bytes > ITEM_SIZE_BYTES_MAX:
                largest = max(size_bytes, size_bytes + actions_bytes - size_of_attributes(self.key))
        if largest > ITEM_SIZE_BYTES_MAX:
            raise ValidationException(UPDATED_ITEM_TOO_LARGE)


def check_condition_paths(table: Table, condition: Condition) -> None:
    """Key attributes are scalars; a condition cannot look into them."""
    require_scalar_keys(table, condition.paths)


def check_targets(table: Table, update: Update) -> None:
    """An update can neither look into a key nor change that of the table."""
    require_scalar_keys(table, update.targets)
    for target in update.targets:
        if target[0] in table.key.names:
            raise ValidationException(
                f"{INVALID}Cannot update attribute {target[0]}. This attribute is part of the key"
            )
