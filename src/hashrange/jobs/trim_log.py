"""Trims the change log to what its readers may still ask for, a bounded piece at a time, beside the writers."""

from __future__ import annotations

from collections.abc import Iterator

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.jobs.job import Job, Step
from hashrange.storage.interface import Plan, Snapshot
from hashrange.streams.records import trim_position
from hashrange.streams.stream import Stream
from hashrange.values.ordered import after

RECORDS_PER_STEP = 500


def next_step(db: Database) -> Step:
    now = db.clock.micros()
    with db.read() as snapshot:
        for key, stored in snapshot.scan(keyspace.STREAM, after(keyspace.STREAM)):
            if not Stream.load(stored).is_readable(now):
                return lambda snapshot: Plan([(key, None)])
        keys = next(expired(snapshot, now), None)
    return None if keys is None else lambda snapshot: Plan([(key, None) for key in keys])


def expired(snapshot: Snapshot, now_micros: int) -> Iterator[list[bytes]]:
    """Log records that nobody may read any more, some at a time. Nothing ever comes back before them."""
    read = {Stream.load(stored).table_id for _, stored in snapshot.scan(keyspace.STREAM, after(keyspace.STREAM))}
    for table_id, slice_number in slices(snapshot):
        start = keyspace.log_key(table_id, slice_number, 0)
        end = keyspace.log_key(table_id, slice_number, trim_position(now_micros))
        if table_id not in read:
            end = after(keyspace.log_prefix(table_id, slice_number))
        keys = [key for key, _ in snapshot.scan(start, end, limit=RECORDS_PER_STEP)]
        if keys:
            yield keys


def slices(snapshot: Snapshot) -> Iterator[tuple[int, int]]:
    """Every table and slice that has log records, found by leaping from one to the next."""
    position = keyspace.LOG
    while True:
        entry = next(snapshot.scan(position, after(keyspace.LOG), limit=1), None)
        if entry is None:
            return
        table_id, slice_number = keyspace.table_id_of(entry[0]), keyspace.log_slice_of(entry[0])
        yield table_id, slice_number
        position = after(keyspace.log_prefix(table_id, slice_number))


JOB = Job("trim-log", next_step, idle_seconds=30.0)
