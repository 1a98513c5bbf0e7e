"""The catalog: which tables exist, as one snapshot sees them.

Building a `Table` from its record costs far more than reading an item, so every process keeps the ones it built.
A kept table is used only if the record in the snapshot at hand is byte for byte the one it was built from; that
comparison is what makes the cache safe with any number of processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hashrange.clock import Clock
from hashrange.engine import keyspace
from hashrange.engine.definition import TableRecord
from hashrange.engine.scope import Scope, resolve_table, scope_of
from hashrange.engine.table import MaintainerFactory, Table
from hashrange.errors import ResourceNotFoundException
from hashrange.storage.interface import Snapshot
from hashrange.values.ordered import after

SERVING = ("ACTIVE", "UPDATING")  # statuses in which items can be read and written
ENTRIES_MAX = 10_000  # kept tables; deleted ones that nobody asks for again count too


@dataclass(slots=True)
class Entry:
    """A table that this process has built, and the record it was built from."""

    raw: bytes
    record: TableRecord
    table: Table | None
    settled: bool


class Catalog:
    """Finds tables by name."""

    def __init__(self, clock: Clock, factories: Sequence[MaintainerFactory] = ()) -> None:
        self._clock = clock
        self._factories = tuple(factories)
        self._entries: dict[bytes, Entry] = {}
        # As requests name them: those that can be served, with the keys and the records they were found by.
        self._serving: dict[tuple[Scope, str], tuple[bytes, bytes, Table]] = {}

    def table(self, snapshot: Snapshot, scope: Scope, name_or_arn: str) -> Table:
        """The table that items are read from and written to; it must exist and be ready."""
        known = self._serving.get((scope, name_or_arn))
        if known is not None:
            key, raw, table = known
            if snapshot.get(key) == raw:
                return table
        return self._looked_up(snapshot, scope, name_or_arn)

    def _looked_up(self, snapshot: Snapshot, scope: Scope, name_or_arn: str) -> Table:
        """The same for a table that is asked for the first time, has changed, or is about to change."""
        self._serving.pop((scope, name_or_arn), None)
        owner, name = resolve_table(scope, name_or_arn)
        key = keyspace.catalog_key(owner.prefix, name)
        entry = self._entry(snapshot, key)
        table = None if entry is None else entry.table
        if entry is None or table is None or table.definition.status not in SERVING:
            raise ResourceNotFoundException()
        if entry.settled:
            if len(self._serving) >= ENTRIES_MAX:
                self._serving.clear()
            self._serving[scope, name_or_arn] = key, entry.raw, table
        return table

    def find(self, snapshot: Snapshot, scope: Scope, name: str) -> Table | None:
        """The table of that name, whatever its status; None if there is none."""
        entry = self._entry(snapshot, keyspace.catalog_key(scope.prefix, name))
        return None if entry is None else entry.table

    def _entry(self, snapshot: Snapshot, key: bytes) -> Entry | None:
        raw = snapshot.get(key)
        if raw is None:
            self._entries.pop(key, None)
            return None
        entry = self._entries.get(key)
        if entry is None or entry.raw != raw or (not entry.settled and self._has_settled(entry)):
            if len(self._entries) >= ENTRIES_MAX:
                self._entries.clear()
            entry = self._entries[key] = self._build(raw)
        return entry

    def _has_settled(self, entry: Entry) -> bool:
        return self._clock.micros() >= entry.record.settles_at_micros

    def _build(self, raw: bytes) -> Entry:
        record = TableRecord.load(raw)
        now = self._clock.micros()
        definition = record.at(now)
        table = None if definition is None else Table(definition, self._factories)
        return Entry(raw, record, table, settled=now >= record.settles_at_micros)

    def record(self, snapshot: Snapshot, scope: Scope, name: str) -> TableRecord:
        """The whole record of a table that exists."""
        entry = self._entry(snapshot, keyspace.catalog_key(scope.prefix, name))
        assert entry is not None
        assert entry.table is not None
        return entry.record

    def names(self, snapshot: Snapshot, scope: Scope, *, after_name: str = "") -> Iterator[str]:
        """The tables of a scope in byte order of their names, those after a given name."""
        prefix = keyspace.catalog_key(scope.prefix, "")
        start = prefix + after_name.encode() + b"\0" if after_name else prefix
        for key, _ in snapshot.scan(start, after(prefix)):
            name = key[len(prefix) :].decode()
            if self.find(snapshot, scope, name) is not None:
                yield name

    def tables(self, snapshot: Snapshot) -> Iterator[Table]:
        """Every table of every account and region."""
        for key, _ in snapshot.scan(keyspace.CATALOG, after(keyspace.CATALOG)):
            account, region, name = key[len(keyspace.CATALOG) :].decode().split("\0")
            table = self.find(snapshot, scope_of(account, region), name)
            if table is not None:
                yield table
