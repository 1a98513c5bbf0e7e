"""What the change log knows about one item: each change with its time, its origin and the item before and after.

Changes of one item are always in the same slice of its table's log, in order. The log is filed by time, so the slice is
read from end to end; it needs no index for what people ask now and then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from hashrange.backup.as_of import old_item, records
from hashrange.engine.change_log import INSERT, REMOVE, LogRecord, slice_of
from hashrange.engine.table import Table
from hashrange.storage.interface import Snapshot
from hashrange.values.item import Item
from hashrange.values.types import Attributes

BEGINNING = 0


@dataclass(frozen=True, slots=True)
class Version:
    """One change of an item. An image is None if there was no item, or if the log did not keep it."""

    sequence: int
    at_micros: int
    event: str
    origin: str
    old: Attributes | None
    new: Attributes | None

    @property
    def knows_old(self) -> bool:
        return self.old is not None or self.event == INSERT

    @property
    def knows_new(self) -> bool:
        return self.new is not None or self.event == REMOVE


def versions(snapshot: Snapshot, table: Table, key: Attributes) -> Iterator[Version]:
    """Every change of an item that the log has, oldest first. `key` is normalised and matches the table's schema."""
    for record in records_of(snapshot, table, key, BEGINNING):
        yield Version(
            sequence=record.sequence,
            at_micros=record.written_at_micros,
            event=record.event,
            origin=record.origin,
            old=None if record.old is None else orjson.loads(record.old),
            new=None if record.new is None else orjson.loads(record.new),
        )


def item_as_of(snapshot: Snapshot, table: Table, key: Attributes, sequence: int) -> Item | None:
    """The item as a reader saw it just before a log position: what its first change since then replaced."""
    first = next(records_of(snapshot, table, key, sequence), None)
    return table.get(snapshot, table.key.pack(key)) if first is None else old_item(first)


def records_of(snapshot: Snapshot, table: Table, key: Attributes, start: int) -> Iterator[LogRecord]:
    """The log records of one item from a position on."""
    definition = table.definition
    keys = orjson.dumps(table.key.take(key))
    slice_number = slice_of(table.key.pack(key), definition.log_slices)
    for record in records(snapshot, definition.id, slice_number, start):
        if record.keys == keys:
            yield record
