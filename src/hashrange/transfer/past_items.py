"""The items of a table as it was, for a full export: page after page, each from whatever snapshot is current then.

No snapshot is held from one page to the next. What keeps the pages consistent is the change log: the first change of an
item at or after the wanted position holds the item as it was, and a change that comes while the export runs is seen
before the next page is read.

Memory grows with the number of items that were changed since the wanted position and are still to be exported.
"""

from __future__ import annotations

from heapq import merge
from typing import NamedTuple

import orjson

from hashrange.backup.as_of import old_item, present_items, records
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.engine.keys import PrimaryKey
from hashrange.storage.interface import Snapshot
from hashrange.values.item import Item

RECORDS_PER_SNAPSHOT = 10_000
BYTES_PER_SNAPSHOT = 512 * 1024  # a store may hold writes back while a snapshot is open


class Page(NamedTuple):
    """Some of what is exported, and the base key where the rest begins; None if there is no more."""

    items: list[Item]
    following: bytes | None


class PastItems:
    """A table as it was just before a position of its log."""

    def __init__(self, table: TableDefinition, sequence: int) -> None:
        self._table = table
        self._key = PrimaryKey(table.key, table.attribute_types)
        self._log_positions = [sequence] * table.log_slices
        self._undone: dict[bytes, Item | None] = {}
        self._order: list[bytes] = []  # the keys of `_undone`, sorted

    def page(self, db: Database, start: bytes, size_bytes_max: int) -> Page:
        """The items from a base key on, until they have so many bytes."""
        items: list[Item] = []
        following: bytes | None = start
        while following is not None and size_bytes_max > 0:
            with db.read() as snapshot:
                if self._see_more(snapshot, following):
                    continue  # the items must come from a snapshot of which all of the log was seen
                some, following = self._read(snapshot, following, min(size_bytes_max, BYTES_PER_SNAPSHOT))
            items += some
            size_bytes_max -= sum(len(item.json) for item in some)
        return Page(items, following)

    def _see_more(self, snapshot: Snapshot, start: bytes) -> bool:
        """Look at the changes that were not seen yet; whether there may be more of them."""
        before = len(self._undone)
        room = RECORDS_PER_SNAPSHOT
        for slice_number, position in enumerate(self._log_positions):
            for record in records(snapshot, self._table.id, slice_number, position):
                if not room:
                    break
                room -= 1
                self._log_positions[slice_number] = record.sequence + 1
                base_key = self._key.pack(orjson.loads(record.keys))
                if base_key >= start and base_key not in self._undone:
                    self._undone[base_key] = old_item(record)
                    self._order.append(base_key)
        if len(self._undone) > before:
            self._order.sort()
        return not room

    def _read(self, snapshot: Snapshot, start: bytes, size_bytes_max: int) -> Page:
        self._forget(start)
        undone = self._undone
        changed = ((base_key, undone[base_key]) for base_key in self._order)
        unchanged = ((base_key, item) for base_key, item in present_items(snapshot, self._table, start))
        items: list[Item] = []
        size_bytes = 0
        for base_key, item in merge(changed, (each for each in unchanged if each[0] not in undone), key=_base_key):
            if size_bytes >= size_bytes_max:
                return Page(items, base_key)
            if item is not None:
                items.append(item)
                size_bytes += len(item.json)
        return Page(items, None)

    def _forget(self, start: bytes) -> None:
        """Let go of what was exported."""
        done = 0
        while done < len(self._order) and self._order[done] < start:
            del self._undone[self._order[done]]
            done += 1
        del self._order[:done]


def _base_key(entry: tuple[bytes, Item | None]) -> bytes:
    return entry[0]
