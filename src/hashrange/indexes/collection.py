"""Item collections: all items with one partition key, together with their entries in local secondary indexes.

In a table with local indexes a collection can grow to 10 GB. Its size is kept as a counter, so a write knows
without looking at the other items whether there is room.
"""

from __future__ import annotations

from hashrange.engine import keyspace
from hashrange.engine.counters import read_counter
from hashrange.engine.table import Changes, ItemChange
from hashrange.errors import ItemCollectionSizeLimitExceededException
from hashrange.limits import ITEM_SIZE_BYTES_MAX, LOCAL_INDEXES_MAX
from hashrange.storage.interface import Snapshot

CHANGE_BYTES_MAX = (1 + LOCAL_INDEXES_MAX) * ITEM_SIZE_BYTES_MAX  # an item and its entries


class CollectionSizes:
    """Counts the bytes of every item collection of a table."""

    __slots__ = ("_bytes_max", "_prefix")

    def __init__(self, table_id: int, bytes_max: int) -> None:
        self._prefix = keyspace.collection_prefix(table_id)
        self._bytes_max = bytes_max

    def grow(self, snapshot: Snapshot, change: ItemChange, local_bytes: int, changes: Changes) -> None:
        """Count a change of an item and of its local index entries; refuse what makes a full collection larger."""
        old, new = change.old, change.new
        size_bytes = local_bytes + (new.size_bytes if new else 0) - (old.size_bytes if old else 0)
        if not size_bytes:
            return
        key = self._prefix + change.base_key[: keyspace.PARTITION_HASH_BYTES]
        if size_bytes > 0 and not _fits(self._bytes_max - read_counter(snapshot, key) - size_bytes, key, changes):
            raise ItemCollectionSizeLimitExceededException()
        changes.adds.append((key, size_bytes))


def _fits(room_bytes: int, key: bytes, changes: Changes) -> bool:
    """Whether what the same plan added to the collection earlier leaves room. Mostly there is room for anything."""
    if room_bytes >= len(changes.adds) * CHANGE_BYTES_MAX:
        return True
    return room_bytes >= sum(amount for counter, amount in changes.adds if counter == key)
