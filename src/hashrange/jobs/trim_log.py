"""Trims the change log to what its readers may still ask for, a bounded piece at a time, beside the writers."""

from __future__ import annotations

from collections.abc import Iterator

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.log_readers import readers
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
            stream = Stream.load(stored)
            if not stream.is_readable(now):
                policy = keyspace.policy_key(stream.table_id, stream.label)
                return lambda snapshot: Plan([(key, None), (policy, None)])
        keys = next(expired(snapshot, now), None)
    return None if keys is None else lambda snapshot: Plan([(key, None) for key in keys])


def expired(snapshot: Snapshot, now_micros: int) -> Iterator[list[bytes]]:
    """Log records that nobody may read any more, some at a time. Nothing ever comes back before them."""
    needed_from = needs(snapshot, now_micros)
    for table_id, slice_number in slices(snapshot):
        start = keyspace.log_key(table_id, slice_number, 0)
        end = after(keyspace.log_prefix(table_id, slice_number))
        if table_id in needed_from:
            end = keyspace.log_key(table_id, slice_number, needed_from[table_id])
        keys = [key for key, _ in snapshot.scan(start, end, limit=RECORDS_PER_STEP)]
        if keys:
            yield keys


def needs(snapshot: Snapshot, now_micros: int) -> dict[int, int]:
    """The first position in the log of each table that one of its readers may still ask for."""
    needed_from: dict[int, int] = {}
    for _, stored in snapshot.scan(keyspace.STREAM, after(keyspace.STREAM)):
        needed_from[Stream.load(stored).table_id] = trim_position(now_micros)
    for table_id, reader in readers(snapshot):
        position = reader.needs_from(now_micros)
        needed_from[table_id] = min(position, needed_from.get(table_id, position))
    return needed_from


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
