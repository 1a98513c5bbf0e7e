"""Copies the changes of a table to its Kinesis stream, one slice of the log at a time.

`prepare` reads the store and is quick. `Delivery.send` speaks to the endpoint and touches no store; it returns the plan
that keeps its outcome. A record may arrive twice, and never less than once while the log has it. A table that is
deleted has what it left in the log delivered, and then its destination is forgotten.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from hashrange.engine import keyspace
from hashrange.engine.change_log import LogRecord, position_at
from hashrange.engine.database import Database
from hashrange.engine.definition import TableRecord
from hashrange.engine.lifecycle import save
from hashrange.engine.log_readers import leave
from hashrange.kinesis.client import NO_SUCH_STREAM, KinesisFailed, put_records
from hashrange.kinesis.destination import (
    ENABLE_FAILED,
    ENABLING,
    LOG_READER,
    Destination,
    Destinations,
    Progress,
    destinations_of,
)
from hashrange.kinesis.record import partition_key, payload
from hashrange.limits import KINESIS_RECORDS_MAX, KINESIS_REQUEST_BYTES_MAX, KINESIS_RETENTION_SECONDS
from hashrange.storage.interface import Plan, Planner, Snapshot
from hashrange.values.ordered import after

log = logging.getLogger("hashrange.kinesis")

NOTHING_DUE = 2**63
BACKOFF_SECONDS_MAX = 60
RETENTION_MICROS = KINESIS_RETENTION_SECONDS * 1_000_000

Wait = int
"""When to look again, in microseconds, if no change comes before."""


@dataclass(frozen=True, slots=True)
class Place:
    """One slice of the log of a table that has a live destination."""

    table: Destinations
    destination: Destination
    slice: int


def places(snapshot: Snapshot) -> Iterator[Place]:
    for _, stored in snapshot.scan(keyspace.KINESIS, after(keyspace.KINESIS)):
        table = Destinations.load(stored)
        destination = table.live
        if destination is not None:
            for slice_number in range(len(destination.slices)):
                yield Place(table, destination, slice_number)


def prepare(db: Database, place: Place) -> Delivery | Planner | Wait:
    """What a slice has to do now."""
    now = db.clock.micros()
    progress = place.destination.slices[place.slice]
    due_at = progress.due_at_micros
    if place.destination.passing == ENABLING:
        due_at = max(due_at, place.destination.settles_at_micros)
    if now < due_at:
        return due_at
    with db.read() as snapshot:
        changes = next_changes(snapshot, place, max(progress.position, position_at(now - RETENTION_MICROS)))
        if not changes:
            is_over = table_record(snapshot, place.table, now) is None and is_drained(snapshot, place)
            return forgetting(place.table) if is_over else NOTHING_DUE
    return Delivery(db, place, changes)


def next_changes(snapshot: Snapshot, place: Place, position: int) -> list[LogRecord]:
    """As many changes as one request may have."""
    found: list[LogRecord] = []
    size_bytes = 0
    start = keyspace.log_key(place.table.table_id, place.slice, position)
    end = after(keyspace.log_prefix(place.table.table_id, place.slice))
    for key, stored in snapshot.scan(start, end, limit=KINESIS_RECORDS_MAX):
        size_bytes += len(stored) + 512  # what is added to the images
        if found and size_bytes > KINESIS_REQUEST_BYTES_MAX:
            break
        found.append(LogRecord.load(key, stored))
    return found


def is_drained(snapshot: Snapshot, place: Place) -> bool:
    slices = range(len(place.destination.slices))
    each = (replace(place, slice=slice_number) for slice_number in slices)
    return not any(next_changes(snapshot, other, place.destination.slices[other.slice].position) for other in each)


def table_record(snapshot: Snapshot, table: Destinations, now_micros: int) -> TableRecord | None:
    """The catalog's record of the table, if it is still the same one."""
    scope = keyspace.scope_prefix(table.account, table.region)
    stored = snapshot.get(keyspace.catalog_key(scope, table.table_name))
    record = None if stored is None else TableRecord.load(stored)
    definition = None if record is None else record.at(now_micros)
    return record if definition is not None and definition.id == table.table_id else None


def forgetting(table: Destinations) -> Planner:
    """For a table that is gone, and all of whose changes are delivered."""
    reader_key = keyspace.log_reader_key(table.table_id, LOG_READER)
    return lambda snapshot: Plan([(table.stored_key, None), (reader_key, None)])


def changing(place: Place, change: Callable[[Destination], Destination], now_micros: int) -> Planner:
    """A change of the destination, if it is still the live one, and not one that was disabled and enabled anew. One
    that ends lets go of the log."""
    seen = place.destination.slices[place.slice]

    def plan(snapshot: Snapshot) -> Plan:
        table = destinations_of(snapshot, place.table.table_id)
        live = None if table is None else table.live
        if table is None or live is None or live.stream_arn != place.destination.stream_arn:
            return Plan()
        if live.slices[place.slice] != seen:
            return Plan()
        changed = change(live)
        mutations: list[tuple[bytes, bytes | None]] = [
            (table.stored_key, table.with_destination(changed, now_micros).dump())
        ]
        record = None if changed.is_live else table_record(snapshot, table, now_micros)
        if record is not None:
            without, reader = leave(record, LOG_READER)
            mutations += [save(without), reader]
        return Plan(mutations)

    return plan


@dataclass(frozen=True, slots=True)
class Delivery:
    """Changes on their way to a Kinesis endpoint."""

    db: Database
    place: Place
    changes: list[LogRecord]

    def send(self) -> Planner:
        """Put the records and say what to keep. Touches no store, and does not raise."""
        table, destination = self.place.table, self.place.destination
        records = [(partition_key(each), payload(table, destination.precision, each)) for each in self.changes]
        try:
            endpoint = self.db.settings.kinesis_endpoint
            if endpoint is None:
                raise KinesisFailed("NoEndpoint", "the server was started without --kinesis-endpoint")
            taken = put_records(endpoint, destination.stream_arn, records, self.db.clock.seconds())
        except KinesisFailed as error:
            log.warning("table %s: %s did not take records: %s", table.table_name, destination.stream_arn, error)
            return self._refused(error)
        return self._keeping(taken)

    def _keeping(self, taken: int) -> Planner:
        """The position after the records that were taken. The first that was not is tried again later."""
        now = self.db.clock.micros()
        if taken == len(self.changes):
            progress = Progress(self.changes[-1].sequence + 1)
        else:
            progress = self._later(now, self.changes[taken].sequence, start_over=taken > 0)
        return changing(self.place, lambda live: live.with_progress(self.place.slice, progress), now)

    def _refused(self, error: KinesisFailed) -> Planner:
        now = self.db.clock.micros()
        if error.code == NO_SUCH_STREAM and not self.place.destination.delivered:
            reason = f"The Kinesis endpoint knows no stream {self.place.destination.stream_arn}"
            return changing(self.place, lambda live: live.becoming(ENABLE_FAILED, ENABLE_FAILED, now, reason), now)
        progress = self._later(now, self.changes[0].sequence)
        return changing(self.place, lambda live: live.with_progress(self.place.slice, progress), now)

    def _later(self, now_micros: int, position: int, *, start_over: bool = False) -> Progress:
        misses = 1 if start_over else self.place.destination.slices[self.place.slice].misses + 1
        seconds = min(BACKOFF_SECONDS_MAX, 1 << min(misses - 1, 16))
        return Progress(position, misses, now_micros + seconds * 1_000_000)
