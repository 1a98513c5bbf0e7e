"""Exports, imports and bulk operations: what is kept about one, and how far one has come.

A transfer has a record under which it is described until ninety days after its start, and, while it is under way, a
second one with its progress, which is written together with the work. Jobs look only for the second kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson

from hashrange.engine import keyspace
from hashrange.engine.definition import TableDefinition
from hashrange.limits import TRANSFER_KEPT_DAYS
from hashrange.storage.interface import Snapshot
from hashrange.values.ordered import after

EXPORT, IMPORT, BULK = "export", "import", "bulk-operation"

IN_PROGRESS = "IN_PROGRESS"
COMPLETED = "COMPLETED"
COMPLETED_WITH_ERRORS = "COMPLETED_WITH_ERRORS"
CANCELLING = "CANCELLING"
CANCELLED = "CANCELLED"
FAILED = "FAILED"

KEPT_MICROS = TRANSFER_KEPT_DAYS * 24 * 3600 * 1_000_000

Mutation = tuple[bytes, bytes | None]


@dataclass(frozen=True, slots=True)
class Transfer:
    """One export, import or bulk operation. `table` is what it is about, as it was at the start or is to be made."""

    kind: str
    id: str
    table: TableDefinition
    request: Mapping[str, Any]
    started_at_micros: int
    status: str = IN_PROGRESS
    ended_at_micros: int | None = None
    failure_code: str | None = None
    failure_message: str | None = None
    results: Mapping[str, Any] = field(default_factory=dict)  # the counts of one that has ended
    facts: Mapping[str, int] = field(default_factory=dict)  # moments and positions that were settled at the start

    @property
    def scope(self) -> bytes:
        return keyspace.scope_prefix(self.table.account, self.table.region)

    @property
    def arn(self) -> str:
        return f"{self.table.arn}/{self.kind}/{self.id}"

    @property
    def key(self) -> bytes:
        return keyspace.transfer_key(self.scope, self.kind, self.id)

    @property
    def reader_name(self) -> str:
        """What an export is called among the readers of its table's change log."""
        return f"{self.kind}-{self.id}"

    @property
    def expires_at_micros(self) -> int:
        return self.started_at_micros + KEPT_MICROS

    @property
    def is_under_way(self) -> bool:
        return self.ended_at_micros is None

    def ended(self, status: str, now_micros: int, results: Mapping[str, Any]) -> Transfer:
        return replace(self, status=status, ended_at_micros=now_micros, results=results)

    def failed(self, code: str, message: str) -> Transfer:
        return replace(self, failure_code=code, failure_message=message)

    def saved(self) -> Mutation:
        fields = {**asdict(self), "expires_at_micros": self.expires_at_micros}
        return self.key, orjson.dumps(fields)

    def begun(self, progress: bytes = b"{}") -> list[Mutation]:
        """What to write when the transfer is accepted."""
        return [self.saved(), (keyspace.under_way_key(self.key), progress)]

    def closed(self) -> list[Mutation]:
        """What to write when it has ended, with a note of when to forget it."""
        return [
            self.saved(),
            (keyspace.under_way_key(self.key), None),
            (keyspace.expiry_key(self.expires_at_micros, self.key), b""),
        ]

    @classmethod
    def load(cls, stored: bytes) -> Transfer:
        fields: dict[str, Any] = orjson.loads(stored)
        del fields["expires_at_micros"]
        return cls(**{**fields, "table": TableDefinition.load(fields["table"])})


def identifier(started_at_micros: int, random_bits: int) -> str:
    """An id that sorts by time: milliseconds in fourteen digits, and eight hexadecimal digits of chance."""
    return f"{started_at_micros // 1000:014d}-{random_bits & 0xFFFFFFFF:08x}"


def find(snapshot: Snapshot, key: bytes) -> Transfer | None:
    stored = snapshot.get(key)
    return None if stored is None else Transfer.load(stored)


def newest_first(snapshot: Snapshot, scope: bytes, kind: str, *, before_id: str | None = None) -> Iterator[Transfer]:
    """The transfers of a kind, the latest first, those before a given one."""
    prefix = keyspace.transfer_prefix(scope, kind)
    end = after(prefix) if before_id is None else prefix + before_id.encode()
    for _, stored in snapshot.scan(prefix, end, reverse=True):
        yield Transfer.load(stored)


def under_way(snapshot: Snapshot, *kinds: str) -> Iterator[tuple[Transfer, bytes]]:
    """Every transfer of these kinds that a job has to see to, with its progress."""
    for key, progress in snapshot.scan(keyspace.UNDER_WAY, after(keyspace.UNDER_WAY)):
        transfer = find(snapshot, keyspace.transfer_key_of(key))
        assert transfer is not None
        if transfer.kind in kinds:
            yield transfer, progress


def exported_tables(snapshot: Snapshot) -> set[int]:
    """The ids of the tables whose items an export still has to read, whether they were deleted or not."""
    return {transfer.table.id for transfer, _ in under_way(snapshot, EXPORT)}
