"""Keeps the entries of secondary indexes true, inside the writer's transaction.

An entry is written, replaced, moved or removed as the item's old and new view in the index differ; the units it
costs follow from the same comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hashrange.engine import keyspace
from hashrange.engine.index import Index
from hashrange.engine.table import Changes, ItemChange, Table, same_content
from hashrange.engine.units import write_units
from hashrange.indexes.collection import CollectionSizes
from hashrange.indexes.propagation import Propagation
from hashrange.storage.interface import Snapshot
from hashrange.values.item import Item


class Effect(NamedTuple):
    """What a change does to an index: the units it costs and the bytes by which the index grows."""

    units: float
    size_bytes: int


NO_EFFECT = Effect(0.0, 0)
Entry = tuple[bytes, Item]


class IndexMaintainer:
    """Maintains one index of a table."""

    __slots__ = ("_is_filling", "bytes_key", "index", "items_key")

    def __init__(self, table_id: int, index: Index) -> None:
        self.index = index
        self._is_filling = index.definition.status == "CREATING"
        number = index.definition.number
        self.items_key = keyspace.counter_key(table_id, number, keyspace.ITEMS)
        self.bytes_key = keyspace.counter_key(table_id, number, keyspace.BYTES)

    def entry(self, item: Item | None, base_key: bytes) -> Entry | None:
        """Where the item's entry is and what it holds; None if the item is not in the index."""
        if item is None:
            return None
        key = self.index.entry_key(item.attributes, base_key)
        return None if key is None else (key, self.index.view(item))

    def maintain(self, snapshot: Snapshot, change: ItemChange, changes: Changes) -> Effect:
        """Add what the change does to the index to `changes`."""
        before = self.entry(change.old, change.base_key)
        after = self.entry(change.new, change.base_key)
        if before is not None and self._is_filling and snapshot.get(before[0]) is None:
            before = None  # the filling has not come to this item yet
        if before is None and after is None:
            return NO_EFFECT
        if before is not None and after is not None and before[0] == after[0]:
            effect = self._replace(before[1], after, changes)
        else:
            effect = self._move(before, after, changes)
        items = (after is not None) - (before is not None)
        if items:
            changes.adds.append((self.items_key, items))
        if effect.size_bytes:
            changes.adds.append((self.bytes_key, effect.size_bytes))
        return effect

    def _replace(self, old: Item, new: Entry, changes: Changes) -> Effect:
        key, item = new
        if same_content(old, item):
            return NO_EFFECT
        changes.mutations.append((key, item.stored()))
        return Effect(write_units(max(old.size_bytes, item.size_bytes)), item.size_bytes - old.size_bytes)

    def _move(self, before: Entry | None, after: Entry | None, changes: Changes) -> Effect:
        """An index key that changes costs a deletion and a put."""
        units, size_bytes = 0.0, 0
        if before is not None:
            changes.mutations.append((before[0], None))
            units += write_units(before[1].size_bytes)
            size_bytes -= before[1].size_bytes
        if after is not None:
            changes.mutations.append((after[0], after[1].stored()))
            units += write_units(after[1].size_bytes)
            size_bytes += after[1].size_bytes
        return Effect(units, size_bytes)


class IndexesMaintainer:
    """Maintains all indexes of a table, and the sizes of its item collections if it has local ones."""

    __slots__ = ("_collections", "_global", "_local", "_postponed", "_propagation")

    def __init__(self, table: Table, propagation: Propagation | None, collection_bytes_max: int) -> None:
        maintainers = [
            IndexMaintainer(table.definition.id, index)
            for index in table.indexes
            if index.definition.status != "DELETING"
        ]
        later = [each for each in maintainers if propagation is not None and _can_wait(each.index)]
        self._postponed = tuple(later)
        self._global = tuple(each for each in maintainers if each.index.is_global and each not in later)
        self._local = tuple(each for each in maintainers if not each.index.is_global)
        self._collections = CollectionSizes(table.definition.id, collection_bytes_max) if self._local else None
        self._propagation = propagation

    def maintain(self, snapshot: Snapshot, change: ItemChange, changes: Changes) -> None:
        if self._collections is not None:
            local_bytes = _maintain_all(self._local, snapshot, change, changes.consumed.local_indexes, changes)
            self._collections.grow(snapshot, change, local_bytes, changes)
        if self._global:
            _maintain_all(self._global, snapshot, change, changes.consumed.global_indexes, changes)
        if self._propagation is not None and self._postponed:
            later = Changes()
            _maintain_all(self._postponed, snapshot, change, changes.consumed.global_indexes, later)
            self._propagation.postpone(snapshot, change, later, changes)


def _can_wait(index: Index) -> bool:
    """Whether writes may come to the index later. While it is filled they may not, or both would add an entry."""
    return index.is_global and index.is_readable


def _maintain_all(
    maintainers: tuple[IndexMaintainer, ...],
    snapshot: Snapshot,
    change: ItemChange,
    consumed: dict[str, float],
    written: Changes,
) -> int:
    """Maintain several indexes, writing into `written`; the bytes by which they grow together."""
    size_bytes = 0
    for maintainer in maintainers:
        effect = maintainer.maintain(snapshot, change, written)
        if effect.units:
            name = maintainer.index.name
            consumed[name] = consumed.get(name, 0.0) + effect.units
        size_bytes += effect.size_bytes
    return size_bytes


def index_maintainers(
    propagation: Propagation | None, collection_bytes_max: int
) -> Callable[[Table], IndexesMaintainer | None]:
    """Makes the maintainer of every table that has indexes."""

    def maintain_indexes(table: Table) -> IndexesMaintainer | None:
        return IndexesMaintainer(table, propagation, collection_bytes_max) if table.indexes else None

    return maintain_indexes
