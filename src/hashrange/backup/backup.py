"""On-demand backups: a table as it was at one moment, kept apart from the table, which may change or go.

Making a backup writes only its record; the items follow in the background (see `backup.fill`), and what they were at
the moment of the backup is known from the change log, which is kept for as long as that takes.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from hashrange.backup.filling import Filling
from hashrange.engine import keyspace, lifecycle
from hashrange.engine.counters import read_counter
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition, TableRecord
from hashrange.engine.lifecycle import Mutation
from hashrange.limits import DELETED_TABLE_BACKUP_DAYS
from hashrange.storage.interface import Snapshot
from hashrange.values.ordered import after

USER = "USER"
SYSTEM = "SYSTEM"
DAY_MICROS = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup. It is deleted at once for clients, while its items go piece by piece."""

    id: int
    label: str  # the last part of its ARN
    name: str
    kind: str
    table: TableDefinition  # as it was
    items: int
    size_bytes: int
    created_at_micros: int
    expires_at_micros: int | None = None
    is_deleted: bool = False

    @property
    def arn(self) -> str:
        return f"{self.table.arn}/backup/{self.label}"

    @property
    def stored_key(self) -> bytes:
        scope = keyspace.scope_prefix(self.table.account, self.table.region)
        return keyspace.backup_key(scope, self.table.name, self.label)

    def dump(self) -> bytes:
        return orjson.dumps(self)

    @classmethod
    def load(cls, stored: bytes) -> Backup:
        fields = orjson.loads(stored)
        return cls(**{**fields, "table": TableDefinition.load(fields["table"])})

    def is_there(self, now_micros: int) -> bool:
        return not self.is_deleted and (self.expires_at_micros is None or now_micros < self.expires_at_micros)


def backups(snapshot: Snapshot, prefix: bytes = keyspace.BACKUP, start: bytes = b"") -> Iterator[Backup]:
    """Backups in the order of their tables' names and of their making."""
    for _, stored in snapshot.scan(max(prefix, start), after(prefix)):
        yield Backup.load(stored)


def back_up(db: Database, snapshot: Snapshot, record: TableRecord, name: str) -> tuple[Backup, list[Mutation]]:
    """A backup of a table that goes on changing, and all that has to be written for it."""
    now = db.clock.micros()
    table = record.at(now)
    assert table is not None
    label = f"{now // 1000:014d}-{uuid.uuid4().hex[:8]}"
    backup = _new(snapshot, table, label, name, USER, now, None)
    filling, reading = Filling.of_present(snapshot, backup.id, backup.stored_key, record, is_backup=True)
    return backup, [*reading, *_kept(backup, filling)]


def back_up_deleted(db: Database, snapshot: Snapshot, table: TableDefinition) -> list[Mutation]:
    """What has to be written for the backup that a table with point-in-time recovery leaves when it is deleted."""
    now = db.clock.micros()
    expires_at = now + DELETED_TABLE_BACKUP_DAYS * DAY_MICROS
    name = f"{table.name}$DeletedTableBackup"
    backup = _new(snapshot, table, f"{now // 1000:014d}-00000000", name, SYSTEM, now, expires_at)
    filling = Filling(backup.id, backup.stored_key, is_backup=True, source_id=table.id, table=table)
    return _kept(backup, filling)


def _new(
    snapshot: Snapshot, table: TableDefinition, label: str, name: str, kind: str, now: int, expires_at: int | None
) -> Backup:
    items, size_bytes = (
        read_counter(snapshot, keyspace.counter_key(table.id, keyspace.BASE_TABLE, what))
        for what in (keyspace.ITEMS, keyspace.BYTES)
    )
    return Backup(lifecycle.next_table_id(snapshot), label, name, kind, table, items, size_bytes, now, expires_at)


def _kept(backup: Backup, filling: Filling) -> list[Mutation]:
    return [lifecycle.take_id(backup.id), (backup.stored_key, backup.dump()), filling.saved()]
