"""A table as it was: its present items with everything undone that the change log says happened since.

For every key, the first change at or after a position holds the item as it was just before that position; a key without
such a change holds now what it held then. The log must reach back to the position and have old images from there on,
which is what point-in-time recovery sees to.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge

import orjson

from hashrange.engine import keyspace
from hashrange.engine.change_log import LogRecord, time_of
from hashrange.engine.definition import TableDefinition
from hashrange.engine.keys import PrimaryKey
from hashrange.storage.interface import Snapshot
from hashrange.values.item import Item
from hashrange.values.ordered import after

END_OF_LOG = 2**64 - 1

Undo = dict[bytes, Item | None]


def items_as_of(
    snapshot: Snapshot, table: TableDefinition, sequence: int, *, start: bytes = b""
) -> Iterator[tuple[bytes, Item]]:
    """The items as a reader saw them just before a log position, by base key, in key order, those from `start` on.

    `position_at(micros + 1)` is the position of a moment with all that happened in it. Memory grows with the number of
    different items that were changed since, not with the table.
    """
    undone = undo(snapshot, table, sequence, start=start)
    changed = ((base_key, item) for base_key, item in sorted(undone.items()) if item is not None)
    unchanged = ((base_key, item) for base_key, item in present_items(snapshot, table, start) if base_key not in undone)
    return merge(changed, unchanged, key=lambda entry: entry[0])


def present_items(snapshot: Snapshot, table: TableDefinition, start: bytes = b"") -> Iterator[tuple[bytes, Item]]:
    prefix = keyspace.item_prefix(table.id)
    for key, stored in snapshot.scan(prefix + start, after(prefix)):
        yield key[len(prefix) :], Item.load(stored)


def undo(snapshot: Snapshot, table: TableDefinition, sequence: int, *, start: bytes = b"") -> Undo:
    """What every item that was changed at a position or later was before; None where there was none."""
    key = PrimaryKey(table.key, table.attribute_types)
    before: Undo = {}
    for slice_number in range(table.log_slices):
        for record in records(snapshot, table.id, slice_number, sequence):
            base_key = key.pack(orjson.loads(record.keys))
            if base_key >= start and base_key not in before:
                before[base_key] = old_item(record)
    return before


def old_item(record: LogRecord) -> Item | None:
    """The item before a change. When it was written is not recorded: some time before."""
    if record.old is None:
        return None
    return Item(record.old, record.old_size, time_of(record.sequence))


def records(
    snapshot: Snapshot, table_id: int, slice_number: int, start: int, end: int = END_OF_LOG
) -> Iterator[LogRecord]:
    """The changes in one slice of a table's log, oldest first."""
    first = keyspace.log_key(table_id, slice_number, start)
    last = keyspace.log_key(table_id, slice_number, end)
    for key, stored in snapshot.scan(first, last):
        yield LogRecord.load(key, stored)
