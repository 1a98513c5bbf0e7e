"""How far back a table can be told as it was.

That takes a log without gaps, with the old image of every change: a stream that shows old images has it for a day, and
point-in-time recovery for as long as it was asked to.
"""

from __future__ import annotations

from hashrange.backup.recovery import earliest_micros
from hashrange.engine import keyspace
from hashrange.engine.definition import TableDefinition
from hashrange.storage.interface import Snapshot
from hashrange.streams.records import SHOWS_OLD
from hashrange.streams.stream import RETENTION_MICROS, Stream


def known_since(snapshot: Snapshot, table: TableDefinition, now_micros: int) -> int | None:
    """The earliest moment, in microseconds, of which the table's items are known; None if the past is not kept."""
    moments = [_by_stream(snapshot, table, now_micros), _by_recovery(table, now_micros)]
    known = [moment for moment in moments if moment is not None]
    return min(known) if known else None


def _by_stream(snapshot: Snapshot, table: TableDefinition, now_micros: int) -> int | None:
    if table.stream_view not in SHOWS_OLD or table.stream_label is None:
        return None
    scope = keyspace.scope_prefix(table.account, table.region)
    stored = snapshot.get(keyspace.stream_key(scope, table.name, table.stream_label))
    assert stored is not None, "an enabled stream has its record"
    return max(Stream.load(stored).created_at_micros, now_micros - RETENTION_MICROS)


def _by_recovery(table: TableDefinition, now_micros: int) -> int | None:
    if table.recovery_since_micros is None:
        return None
    return earliest_micros(table, now_micros)
