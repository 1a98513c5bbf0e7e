"""Walks the whole database in one snapshot and tells everything that is not as it should be.

Every item must lie under the key that its attributes give, be normalised and have its true size; every index entry
must have its item and every item its entries; every counter must count what is there.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator

import orjson

from hashrange.engine import keyspace
from hashrange.engine.counters import read_counter
from hashrange.engine.definition import TableDefinition, TableRecord
from hashrange.engine.index import Index
from hashrange.engine.table import Table
from hashrange.errors import ClientError
from hashrange.storage.interface import Snapshot
from hashrange.values.attribute import MalformedValue, check_attributes
from hashrange.values.item import Item
from hashrange.values.ordered import after

Progress = Callable[[int], None]


def check(snapshot: Snapshot, now_micros: int, progress: Progress = lambda entries: None) -> Iterator[str]:
    """Every problem found, as a sentence. `progress` is told the number of entries walked, now and then."""
    return DatabaseCheck(snapshot, now_micros, progress).problems()


class DatabaseCheck:
    """One walk over the database."""

    def __init__(self, snapshot: Snapshot, now_micros: int, progress: Progress) -> None:
        self._snapshot = snapshot
        self._now_micros = now_micros
        self._progress = progress
        self._walked = 0
        self._tables: dict[int, Table] = {}
        self._deleted: set[tuple[int, int]] = set()
        self._counted: Counter[bytes] = Counter()

    def problems(self) -> Iterator[str]:
        yield from self._catalog()
        yield from self._items()
        yield from self._entries()
        yield from self._counters()

    def _scan(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        for key, value in self._snapshot.scan(prefix, after(prefix)):
            self._walked += 1
            if self._walked % 10_000 == 0:
                self._progress(self._walked)
            yield key, value
        self._progress(self._walked)

    def _catalog(self) -> Iterator[str]:
        for key, _ in self._scan(keyspace.DELETED):
            self._deleted.add((keyspace.table_id_of(key), keyspace.index_number_of(key)))
        for key, raw in self._scan(keyspace.CATALOG):
            try:
                definition = TableRecord.load(raw).at(self._now_micros)
            except (KeyError, TypeError, orjson.JSONDecodeError) as error:
                yield f"The catalog record {key!r} cannot be read: {error!r}."
                continue
            if definition is None:
                continue
            if definition.id in self._tables:
                yield f"Table id {definition.id} belongs to two tables."
            self._tables[definition.id] = Table(definition)

    def _items(self) -> Iterator[str]:
        for key, stored in self._scan(keyspace.ITEM):
            table_id = keyspace.table_id_of(key)
            table = self._tables.get(table_id)
            if table is None:
                if (table_id, keyspace.BASE_TABLE) not in self._deleted:
                    yield f"The item under {key.hex()} belongs to no table."
                continue
            yield from self._item(table, key, stored)

    def _item(self, table: Table, key: bytes, stored: bytes) -> Iterator[str]:
        where = f"Table {table.name}: the item under {key.hex()}"
        try:
            item = Item.load(stored)
            attributes = copy.deepcopy(item.attributes)
            size_bytes = check_attributes(attributes)
            base_key = table.key.of_item(attributes)
        except (ClientError, MalformedValue, AssertionError, ValueError) as error:
            yield f"{where} is not a valid item: {error!r}."
            return
        if attributes != item.attributes:
            yield f"{where} is not normalised."
        if size_bytes != item.size_bytes:
            yield f"{where} says it has {item.size_bytes} bytes but has {size_bytes}."
        if table.item_prefix + base_key != key:
            yield f"{where} should lie under {(table.item_prefix + base_key).hex()}."
        self._count(table.definition, keyspace.BASE_TABLE, size_bytes)
        for index in table.indexes:
            yield from self._expected_entry(where, index, item, base_key)

    def _expected_entry(self, where: str, index: Index, item: Item, base_key: bytes) -> Iterator[str]:
        if not index.is_readable:
            return
        entry_key = index.entry_key(item.attributes, base_key)
        if entry_key is not None and self._snapshot.get(entry_key) is None:
            yield f"{where} has no entry in index {index.name}."

    def _entries(self) -> Iterator[str]:
        for key, stored in self._scan(keyspace.INDEX):
            table_id, number = keyspace.table_id_of(key), keyspace.index_number_of(key)
            table = self._tables.get(table_id)
            index = None if table is None else _numbered(table, number)
            if table is None or index is None:
                if not self._deleted & {(table_id, keyspace.BASE_TABLE), (table_id, number)}:
                    yield f"The index entry under {key.hex()} belongs to no index."
                continue
            yield from self._entry(table, index, key, stored)

    def _entry(self, table: Table, index: Index, key: bytes, stored: bytes) -> Iterator[str]:
        entry = Item.load(stored)
        self._count(table.definition, index.definition.number, entry.size_bytes)
        base_key = table.key.pack(entry.attributes)
        item = table.get(self._snapshot, base_key)
        where = f"Table {table.name}, index {index.name}: the entry under {key.hex()}"
        if item is None:
            yield f"{where} has no item."
        elif index.entry_key(item.attributes, base_key) != key:
            yield f"{where} should not be there."
        elif index.view(item).json != entry.json:
            yield f"{where} differs from its item."

    def _count(self, table: TableDefinition, index_number: int, size_bytes: int) -> None:
        self._counted[keyspace.counter_key(table.id, index_number, keyspace.ITEMS)] += 1
        self._counted[keyspace.counter_key(table.id, index_number, keyspace.BYTES)] += size_bytes

    def _counters(self) -> Iterator[str]:
        for table in self._tables.values():
            numbers = [keyspace.BASE_TABLE, *(index.definition.number for index in table.indexes)]
            for number in numbers:
                for what, noun in ((keyspace.ITEMS, "items"), (keyspace.BYTES, "bytes")):
                    key = keyspace.counter_key(table.definition.id, number, what)
                    counter, found = read_counter(self._snapshot, key), self._counted[key]
                    if counter != found:
                        yield f"Table {table.name}, index {number}: counts {counter} {noun}, has {found}."


def _numbered(table: Table, number: int) -> Index | None:
    return next((index for index in table.indexes if index.definition.number == number), None)
