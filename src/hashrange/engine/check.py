"""Walks the whole database in one snapshot and tells everything that is not as it should be.

Every item must lie under the key that its attributes give, be normalised and have its true size; every index entry
must have its item and every item its entries; every counter must count what is there. Whatever is found where a
record should be, the walk goes on.
"""

from __future__ import annotations

import copy
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from hashrange.engine import keyspace
from hashrange.engine.counters import read_counter
from hashrange.engine.definition import TableDefinition, TableRecord
from hashrange.engine.index import Index
from hashrange.engine.table import Table, same_content
from hashrange.errors import ClientError
from hashrange.storage.interface import Snapshot
from hashrange.values.attribute import MalformedValue, check_attributes
from hashrange.values.item import Item
from hashrange.values.ordered import after

Progress = Callable[[int], None]

UNREADABLE = (ClientError, MalformedValue, AssertionError, LookupError, TypeError, ValueError, struct.error)
"""What reading a record raises when it is not what was written."""


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
        self._waiting: set[int] = set()  # tables with writes that have yet to come to their global indexes
        self._counted: Counter[bytes] = Counter()
        self._collection_bytes: defaultdict[int, Counter[bytes]] = defaultdict(Counter)  # by table

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
        for key, _ in self._scan(keyspace.POSTPONED):
            self._waiting.add(keyspace.table_id_of(keyspace.postponed_item_of(key)))
        for key, raw in self._scan(keyspace.CATALOG):
            try:
                definition = TableRecord.load(raw).at(self._now_micros)
                table = None if definition is None else Table(definition)
            except UNREADABLE as error:
                yield f"The catalog record {key!r} cannot be read: {error!r}."
                continue
            if table is None:
                continue
            if table.definition.id in self._tables:
                yield f"Table id {table.definition.id} belongs to two tables."
            self._tables[table.definition.id] = table

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
        except UNREADABLE as error:
            yield f"{where} is not a valid item: {error!r}."
            return
        if attributes != item.attributes:
            yield f"{where} is not normalised."
        if size_bytes != item.size_bytes:
            yield f"{where} says it has {item.size_bytes} bytes but has {size_bytes}."
        if table.item_prefix + base_key != key:
            yield f"{where} should lie under {(table.item_prefix + base_key).hex()}."
        self._count(table.definition, keyspace.BASE_TABLE, size_bytes)
        self._count_collection(table.definition, base_key, size_bytes)
        for index in table.indexes:
            if index.is_readable and not self._is_behind(table, index):
                yield from self._expected_entry(where, index, item, base_key)

    def _is_behind(self, table: Table, index: Index) -> bool:
        """Whether an index cannot be compared with its table now."""
        return index.is_global and table.definition.id in self._waiting

    def _expected_entry(self, where: str, index: Index, item: Item, base_key: bytes) -> Iterator[str]:
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
            where = f"Table {table.name}, index {index.name}: the entry under {key.hex()}"
            try:
                problem = self._entry(table, index, key, stored)
            except UNREADABLE as error:
                problem = f"cannot be compared with its item: {error!r}"
            if problem is not None:
                yield f"{where} {problem}."

    def _entry(self, table: Table, index: Index, key: bytes, stored: bytes) -> str | None:
        entry = Item.load(stored)
        self._count(table.definition, index.definition.number, entry.size_bytes)
        base_key = table.key.pack(entry.attributes)
        if not index.is_global:
            self._count_collection(table.definition, base_key, entry.size_bytes)
        if self._is_behind(table, index):
            return None
        item = table.get(self._snapshot, base_key)
        if item is None:
            return "has no item"
        if index.entry_key(item.attributes, base_key) != key:
            return "should not be there"
        if not same_content(index.view(item), entry):
            return "differs from its item"
        return None

    def _count(self, table: TableDefinition, index_number: int, size_bytes: int) -> None:
        self._counted[keyspace.counter_key(table.id, index_number, keyspace.ITEMS)] += 1
        self._counted[keyspace.counter_key(table.id, index_number, keyspace.BYTES)] += size_bytes

    def _count_collection(self, table: TableDefinition, base_key: bytes, size_bytes: int) -> None:
        if table.local_indexes:
            partition = base_key[: keyspace.PARTITION_HASH_BYTES]
            self._collection_bytes[table.id][keyspace.collection_prefix(table.id) + partition] += size_bytes

    def _counters(self) -> Iterator[str]:
        for table in self._tables.values():
            numbers = [keyspace.BASE_TABLE, *(index.definition.number for index in _maintained(table))]
            for number in numbers:
                where = f"Table {table.name}, index {number}:"
                for what, noun in ((keyspace.ITEMS, "items"), (keyspace.BYTES, "bytes")):
                    key = keyspace.counter_key(table.definition.id, number, what)
                    yield from self._counter(where, key, noun, self._counted[key])
            yield from self._collections(table)

    def _collections(self, table: Table) -> Iterator[str]:
        counted = self._collection_bytes[table.definition.id]
        stored = (key for key, _ in self._scan(keyspace.collection_prefix(table.definition.id)))
        for key in sorted({*counted, *stored}):
            yield from self._counter(f"Table {table.name}, item collection {key.hex()}:", key, "bytes", counted[key])

    def _counter(self, where: str, key: bytes, noun: str, found: int) -> Iterator[str]:
        try:
            counter = read_counter(self._snapshot, key)
        except struct.error:
            yield f"{where} the counter of {noun} cannot be read."
            return
        if counter != found:
            yield f"{where} counts {counter} {noun}, has {found}."


def _maintained(table: Table) -> list[Index]:
    """The indexes that writes keep true. One that is being deleted is not among them."""
    return [index for index in table.indexes if index.definition.status != "DELETING"]


def _numbered(table: Table, number: int) -> Index | None:
    return next((index for index in _maintained(table) if index.definition.number == number), None)
