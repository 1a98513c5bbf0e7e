"""Fills a backup or a restored table, a bounded step at a time, while the table it is filled from goes on changing.

Every step runs on the latest state and does two things. First it catches up with the source's change log: the first
change of an item at or after the wanted moment holds the item as it was then, and decides about it; if there was
none, a mark says that it must be left out. Then, if it has seen the whole log, it copies the next items that nothing
was decided about: those have not changed since. So no step needs a snapshot of the past, memory is bounded by the
step, and a crash loses nothing, because the position is written together with the items.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import orjson

from hashrange.backup.as_of import old_item, records
from hashrange.backup.backup import Backup
from hashrange.backup.filling import Filling
from hashrange.engine import keyspace, lifecycle
from hashrange.engine.database import Database
from hashrange.engine.definition import TableRecord
from hashrange.engine.keys import PrimaryKey
from hashrange.engine.lifecycle import Mutation
from hashrange.engine.scope import scope_of
from hashrange.engine.table import Changes, ItemChange, Table
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.item import Item
from hashrange.values.ordered import after

ENTRIES_PER_STEP = 1000
BYTES_PER_STEP = 4 * 1024 * 1024


class Destination(Protocol):
    """What is filled."""

    prefix: bytes  # of its items; base keys follow
    entries_per_item: int  # what an item makes of work, in entries to write

    def put(self, snapshot: Snapshot, base_key: bytes, item: Item, changes: Changes) -> None: ...

    def filled(self, filling: Filling) -> Mutation:
        """Its record when everything is in it."""
        ...


class BackupDestination:
    """A backup: nothing but items."""

    def __init__(self, backup: Backup) -> None:
        self._backup = backup
        self.entries_per_item = 1
        self.prefix = keyspace.backup_item_prefix(backup.id)

    def put(self, snapshot: Snapshot, base_key: bytes, item: Item, changes: Changes) -> None:
        changes.mutations.append((self.prefix + base_key, item.stored()))

    def filled(self, filling: Filling) -> Mutation:
        counted = replace(self._backup, items=filling.items, size_bytes=filling.size_bytes)
        return self._backup.stored_key, counted.dump()


class TableDestination:
    """A new table: its items go through the one door, which sees to indexes and counters."""

    def __init__(self, table: Table, record: TableRecord, ready_at_micros: int) -> None:
        self._table = table
        self._record = record
        self._ready_at_micros = ready_at_micros
        self.entries_per_item = 1 + len(table.indexes)
        self.prefix = table.item_prefix

    def put(self, snapshot: Snapshot, base_key: bytes, item: Item, changes: Changes) -> None:
        self._table.change(snapshot, ItemChange(self._table, base_key, None, item), changes)

    def filled(self, filling: Filling) -> Mutation:
        """It becomes ACTIVE now, or later if that is how long a new table takes."""
        return lifecycle.save(replace(self._record, settles_at_micros=self._ready_at_micros))


def destination(db: Database, snapshot: Snapshot, filling: Filling) -> Destination | None:
    """What is to be filled; None if it was deleted meanwhile."""
    stored = snapshot.get(filling.record_key)
    if stored is None:
        return None
    if filling.is_backup:
        backup = Backup.load(stored)
        return None if backup.is_deleted else BackupDestination(backup)
    record = TableRecord.load(stored)
    scope = scope_of(record.now.account, record.now.region)
    table = db.catalog.find(snapshot, scope, record.now.name)
    if table is None or table.definition.id != filling.id:
        return None
    return TableDestination(table, record, lifecycle.settles_at(db, record.now.created_at_micros))


def fill(db: Database, snapshot: Snapshot, key: bytes) -> Plan:
    """The next step of a filling, whichever it is."""
    stored = snapshot.get(key)
    if stored is None:
        return Plan()
    filling = Filling.load(stored)
    if filling.position is None:
        return clear_up(snapshot, filling)
    into = destination(db, snapshot, filling)
    if into is None:
        return Plan(filling.done(snapshot))
    return Step(snapshot, filling, into).plan()


def clear_up(snapshot: Snapshot, filling: Filling) -> Plan:
    """Remove the marks of a finished filling, and at last its record."""
    prefix = keyspace.left_out_prefix(filling.id)
    keys = [key for key, _ in snapshot.scan(prefix, after(prefix), limit=ENTRIES_PER_STEP)]
    mutations: list[Mutation] = [(key, None) for key in keys]
    if len(keys) < ENTRIES_PER_STEP:
        mutations.append((keyspace.filling_key(filling.id), None))
    return Plan(mutations)


@dataclass(slots=True)
class Step:
    """One step of a filling, with what it may still do."""

    snapshot: Snapshot
    filling: Filling
    into: Destination
    changes: Changes = field(default_factory=Changes)
    decided: set[bytes] = field(default_factory=set)  # in this step; those of others are in the store
    items: int = 0
    size_bytes: int = 0
    entries_left: int = field(default_factory=lambda: ENTRIES_PER_STEP)
    bytes_left: int = BYTES_PER_STEP

    def plan(self) -> Plan:
        log_positions = self._catch_up()
        position = self._copy_items()
        filling = replace(
            self.filling,
            log_positions=log_positions,
            position=position,
            items=self.filling.items + self.items,
            size_bytes=self.filling.size_bytes + self.size_bytes,
        )
        if position is None:
            self.changes.mutations += [self.into.filled(filling), *filling.done(self.snapshot)]
        else:
            self.changes.mutations.append(filling.saved())
        return self.changes.answering(None)

    def _catch_up(self) -> tuple[int, ...]:
        """Look at the changes since the last step, to the end of the log or of the step; how far that went."""
        positions = list(self.filling.log_positions)
        table = self.filling.table
        if not positions or table is None:
            return ()
        key = PrimaryKey(table.key, table.attribute_types)
        for slice_number, position in enumerate(positions):
            for record in records(self.snapshot, table.id, slice_number, position):
                if self._is_over():
                    return tuple(positions)
                self._decide(key.pack(orjson.loads(record.keys)), old_item(record))
                positions[slice_number] = record.sequence + 1
                self._spend(record.old_size + record.new_size)
        return tuple(positions)

    def _decide(self, base_key: bytes, item: Item | None) -> None:
        """Take the item as it was before a change, unless an earlier change or the copying decided about it."""
        assert self.filling.position is not None
        if base_key < self.filling.position or base_key in self.decided or self._is_decided([base_key])[0]:
            return
        self.decided.add(base_key)
        if item is None:
            self.changes.mutations.append((keyspace.left_out_prefix(self.filling.id) + base_key, b""))
        else:
            self._put(base_key, item)

    def _copy_items(self) -> bytes | None:
        """Copy the next items about which nothing was decided; the position after them, or None after the last.

        A step that was over before the end of the log copies none: they may have changed.
        """
        entries = list(self._next_entries())
        if self.filling.log_positions:
            found = self._is_decided([base_key for base_key, _ in entries])
            undecided = [entry for entry, is_decided in zip(entries, found, strict=True) if not is_decided]
        else:
            undecided = entries
        for base_key, stored in undecided:
            if base_key not in self.decided:
                self._put(base_key, Item.load(stored))
        if not self._is_over():
            return None
        return entries[-1][0] + b"\0" if entries else self.filling.position

    def _next_entries(self) -> Iterator[tuple[bytes, bytes]]:
        """The source's next items, as many as the step may still copy."""
        assert self.filling.position is not None
        source_id = self.filling.source_id
        is_table = self.filling.table is not None
        prefix = keyspace.item_prefix(source_id) if is_table else keyspace.backup_item_prefix(source_id)
        if self._is_over():
            return
        for key, stored in self.snapshot.scan(prefix + self.filling.position, after(prefix)):
            yield key[len(prefix) :], stored
            self._spend(len(stored))
            if self._is_over():
                return

    def _is_decided(self, base_keys: Sequence[bytes]) -> list[bool]:
        """Which items are in their place already, or must be left out."""
        marks = keyspace.left_out_prefix(self.filling.id)
        placed = self.snapshot.get_many([self.into.prefix + base_key for base_key in base_keys])
        left_out = self.snapshot.get_many([marks + base_key for base_key in base_keys])
        return [a is not None or b is not None for a, b in zip(placed, left_out, strict=True)]

    def _put(self, base_key: bytes, item: Item) -> None:
        self.into.put(self.snapshot, base_key, item, self.changes)
        self.items += 1
        self.size_bytes += item.size_bytes

    def _spend(self, size_bytes: int) -> None:
        self.entries_left -= self.into.entries_per_item
        self.bytes_left -= size_bytes

    def _is_over(self) -> bool:
        return self.entries_left <= 0 or self.bytes_left <= 0
