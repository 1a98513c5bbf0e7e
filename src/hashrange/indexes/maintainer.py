"""Keeps the entries of secondary indexes true, inside the writer's transaction.

An entry is written, replaced, moved or removed as the item's old and new view in the index differ; the units it
costs follow from the same comparison.
"""

from __future__ import annotations

from hashrange.engine import keyspace
from hashrange.engine.index import Index
from hashrange.engine.table import Changes, ItemChange, Table
from hashrange.engine.units import write_units
from hashrange.storage.interface import Snapshot
from hashrange.values.item import Item


class IndexMaintainer:
    """Maintains one index of a table."""

    __slots__ = ("bytes_key", "index", "items_key")

    def __init__(self, table_id: int, index: Index) -> None:
        self.index = index
        number = index.definition.number
        self.items_key = keyspace.counter_key(table_id, number, keyspace.ITEMS)
        self.bytes_key = keyspace.counter_key(table_id, number, keyspace.BYTES)

    def entry(self, item: Item | None, base_key: bytes) -> tuple[bytes, Item] | None:
        """Where the item's entry is and what it holds; None if the item is not in the index."""
        if item is None:
            return None
        key = self.index.entry_key(item.attributes, base_key)
        return None if key is None else (key, self.index.view(item))

    def maintain(self, change: ItemChange, changes: Changes) -> float:
        """Write what the change does to the index; the units that this costs."""
        before = self.entry(change.old, change.base_key)
        after = self.entry(change.new, change.base_key)
        if before is None and after is None:
            return 0.0
        if before is not None and after is not None and before[0] == after[0]:
            return self._replace(before[1], after, changes)
        units = 0.0
        if before is not None:
            changes.mutations.append((before[0], None))
            units += write_units(before[1].size_bytes)
        if after is not None:
            changes.mutations.append((after[0], after[1].stored()))
            units += write_units(after[1].size_bytes)
        self._count(before, after, changes)
        return units

    def _replace(self, old: Item, new: tuple[bytes, Item], changes: Changes) -> float:
        key, item = new
        if old.json == item.json:
            return 0.0
        changes.mutations.append((key, item.stored()))
        if item.size_bytes != old.size_bytes:
            changes.adds.append((self.bytes_key, item.size_bytes - old.size_bytes))
        return write_units(max(old.size_bytes, item.size_bytes))

    def _count(self, before: tuple[bytes, Item] | None, after: tuple[bytes, Item] | None, changes: Changes) -> None:
        items = (after is not None) - (before is not None)
        size_bytes = (after[1].size_bytes if after else 0) - (before[1].size_bytes if before else 0)
        if items:
            changes.adds.append((self.items_key, items))
        if size_bytes:
            changes.adds.append((self.bytes_key, size_bytes))


class IndexesMaintainer:
    """Maintains all indexes of a table."""

    __slots__ = ("maintainers",)

    def __init__(self, table: Table) -> None:
        self.maintainers = tuple(
            IndexMaintainer(table.definition.id, index)
            for index in table.indexes
            if index.definition.status != "DELETING"
        )

    def maintain(self, snapshot: Snapshot, change: ItemChange, changes: Changes) -> None:
        consumed = changes.consumed
        for maintainer in self.maintainers:
            units = maintainer.maintain(change, changes)
            if units:
                index = maintainer.index
                arm = consumed.global_indexes if index.is_global else consumed.local_indexes
                arm[index.name] = arm.get(index.name, 0.0) + units


def maintain_indexes(table: Table) -> IndexesMaintainer | None:
    return IndexesMaintainer(table) if table.indexes else None
