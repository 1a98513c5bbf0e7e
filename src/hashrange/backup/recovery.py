"""Point-in-time recovery: for how long the change log of a table is kept, and to which moments that lets it go back."""

from __future__ import annotations

from dataclasses import replace

from hashrange.engine import keyspace, log_readers
from hashrange.engine.definition import TableDefinition, TableRecord
from hashrange.engine.lifecycle import Mutation
from hashrange.engine.log_readers import LogReader

READER = "recovery"
DAY_MICROS = 86_400_000_000
SECOND_MICROS = 1_000_000


def earliest_micros(table: TableDefinition, now_micros: int) -> int:
    """The first moment that the table can be restored to."""
    assert table.recovery_since_micros is not None
    return max(table.recovery_since_micros, now_micros - table.recovery_days * DAY_MICROS)


def latest_micros(table: TableDefinition, now_micros: int) -> int:
    """The last moment that is shown as restorable: the present second."""
    return max(earliest_micros(table, now_micros), now_micros // SECOND_MICROS * SECOND_MICROS)


def moment_of(seconds: float, table: TableDefinition, now_micros: int) -> int | None:
    """The moment that a client means; None if the table cannot go back to it.

    Clients often cut times to whole seconds, so those of the first restorable second that lie before the first
    restorable moment stand for that moment.
    """
    earliest = earliest_micros(table, now_micros)
    if not earliest // SECOND_MICROS <= seconds <= now_micros / SECOND_MICROS:
        return None
    return max(round(seconds * SECOND_MICROS), earliest)


def enable(record: TableRecord, days: int, now_micros: int) -> tuple[TableRecord, Mutation]:
    """The record of a table whose log is kept for so many days. What was trimmed already does not come back."""
    table = record.now
    is_on = table.recovery_since_micros is not None
    since = earliest_micros(table, now_micros) if is_on else now_micros
    joined, mutation = log_readers.join(record, READER, LogReader(retention_micros=days * DAY_MICROS))
    return joined.everywhere(lambda each: replace(each, recovery_since_micros=since, recovery_days=days)), mutation


def disable(record: TableRecord) -> tuple[TableRecord, Mutation]:
    left, mutation = log_readers.leave(record, READER)
    return left.everywhere(lambda each: replace(each, recovery_since_micros=None)), mutation


def forget(table: TableDefinition) -> Mutation:
    """What to write when the table is deleted."""
    return keyspace.log_reader_key(table.id, READER), None
