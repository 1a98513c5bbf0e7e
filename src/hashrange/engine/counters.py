"""Keeps the item count and the size of every table true, inside the writer's transaction."""

from __future__ import annotations

from struct import Struct

from hashrange.engine import keyspace
from hashrange.engine.table import Changes, ItemChange, Table
from hashrange.storage.interface import Snapshot

_counter = Struct("<q")


def read_counter(snapshot: Snapshot, key: bytes) -> int:
    stored = snapshot.get(key)
    if stored is None:
        return 0
    value: int = _counter.unpack(stored)[0]
    return value


class TableCounters:
    """Counts the items and bytes of a table."""

    __slots__ = ("bytes_key", "items_key")

    def __init__(self, table: Table) -> None:
        table_id = table.definition.id
        self.items_key = keyspace.counter_key(table_id, keyspace.BASE_TABLE, keyspace.ITEMS)
        self.bytes_key = keyspace.counter_key(table_id, keyspace.BASE_TABLE, keyspace.BYTES)

    def maintain(self, snapshot: Snapshot, change: ItemChange, changes: Changes) -> None:
        old, new = change.old, change.new
        items = (new is not None) - (old is not None)
        size_bytes = (new.size_bytes if new else 0) - (old.size_bytes if old else 0)
        if items:
            changes.adds.append((self.items_key, items))
        if size_bytes:
            changes.adds.append((self.bytes_key, size_bytes))
