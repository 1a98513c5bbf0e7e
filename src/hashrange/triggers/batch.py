"""Takes the next batch of a lane out of the change log.

A batch holds changes of one shard only, in order, up to the trigger's batch size or the 6 MB that an event may have.
Sequence numbers grow with commits, so whatever a snapshot shows is complete: nothing will ever appear before it, and a
shard whose child has records is itself at its end. So parents come before children without any bookkeeping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from hashrange.engine import keyspace
from hashrange.engine.change_log import LogRecord, position_at, time_of
from hashrange.engine.table import SERVICE
from hashrange.limits import TRIGGER_EVENT_BYTES_MAX
from hashrange.storage.interface import Snapshot
from hashrange.streams.iterator import sequence_text
from hashrange.streams.records import record, trim_position
from hashrange.streams.stream import Stream, shard_id
from hashrange.triggers.checkpoint import Lane, lane_of
from hashrange.triggers.trigger import Trigger
from hashrange.values.ordered import after

Matches = Callable[[dict[str, Any]], bool]

LOOKED_AT_MAX = 10_000  # log records in one go, wanted or not
ENVELOPE_BYTES = len(b'{"Records":[]}')
SERVICE_IDENTITY = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


@dataclass(slots=True)
class Batch:
    """Changes to hand to a function together, each as the JSON of one Lambda event record."""

    shard_id: str = ""
    changes: list[LogRecord] = field(default_factory=list)
    records: list[bytes] = field(default_factory=list)
    size_bytes: int = ENVELOPE_BYTES
    position: int = 0  # what comes before it is in the batch, or not wanted
    looked_at: int = 0
    is_complete: bool = False  # whether waiting could not add to it

    def event(self) -> bytes:
        return b'{"Records":[' + b",".join(self.records) + b"]}"

    def cut(self, count: int) -> Batch:
        """The first so many changes as a batch of their own."""
        changes = self.changes[:count]
        return Batch(self.shard_id, changes, self.records[:count], position=changes[-1].sequence + 1)

    def rest(self, first: int) -> Batch:
        """The batch from one of its changes on."""
        return Batch(self.shard_id, self.changes[first:], self.records[first:], position=self.position)

    @property
    def numbers(self) -> list[str]:
        """The sequence numbers, as functions see them."""
        return [sequence_text(change.sequence) for change in self.changes]


@dataclass(frozen=True, slots=True)
class Place:
    """One lane of one trigger in one slice of its stream's log."""

    trigger: Trigger
    stream: Stream
    slice: int
    lane: int


def read_batch(snapshot: Snapshot, place: Place, lane: Lane, now_micros: int, matches: Matches | None) -> Batch:
    """The next changes for a lane, from its position on."""
    trigger, stream = place.trigger, place.stream
    start = max(lane.position, trim_position(now_micros))
    batch = Batch(position=start)
    shard_end = 0
    for change in changes_from(snapshot, place, start, lane.ends[-1] if lane.ends else None):
        if (batch.changes and change.sequence >= shard_end) or batch.looked_at == LOOKED_AT_MAX:
            batch.is_complete = True
            return batch
        batch.looked_at += 1
        if lane_of(change.keys, trigger.lanes) == place.lane:
            text = orjson.dumps(event_record(stream, change))
            if matches is None or matches(orjson.loads(text)):
                if batch.changes and batch.size_bytes + len(text) + 1 > TRIGGER_EVENT_BYTES_MAX:
                    batch.is_complete = True
                    return batch
                if not batch.changes:
                    batch.shard_id, shard_end = shard_at(stream, place.slice, change.sequence)
                batch.changes.append(change)
                batch.records.append(text)
                batch.size_bytes += len(text) + 1
        batch.position = change.sequence + 1
        if len(batch.changes) == trigger.batch_size:
            batch.is_complete = True
            return batch
    if lane.ends:
        batch.position = max(batch.position, lane.ends[-1])
        batch.is_complete = True
    return batch


def next_wanted(snapshot: Snapshot, place: Place, position: int) -> int:
    """The position of the first change that falls to a lane; what it could pass over is passed over."""
    for looked_at, change in enumerate(changes_from(snapshot, place, position, None)):
        if lane_of(change.keys, place.trigger.lanes) == place.lane or looked_at == LOOKED_AT_MAX:
            return change.sequence
        position = change.sequence + 1
    return position


def changes_from(snapshot: Snapshot, place: Place, start: int, end: int | None) -> Iterator[LogRecord]:
    """The slice's part of the log, as far as the stream has it."""
    stream = place.stream
    if end is None and stream.disabled_at_micros is not None:
        end = position_at(stream.disabled_at_micros + 1)
    first = keyspace.log_key(stream.table_id, place.slice, max(start, position_at(stream.created_at_micros)))
    if end is None:
        last = after(keyspace.log_prefix(stream.table_id, place.slice))
    else:
        last = keyspace.log_key(stream.table_id, place.slice, end)
    if first < last:
        for key, stored in snapshot.scan(first, last):
            yield LogRecord.load(key, stored)


def shard_at(stream: Stream, slice_number: int, sequence: int) -> tuple[str, int]:
    """The shard that has a sequence number, and where it ends."""
    piece = (time_of(sequence) - stream.created_at_micros) // stream.shard_micros
    start_micros = stream.created_at_micros + piece * stream.shard_micros
    return shard_id(stream, slice_number, position_at(start_micros)), position_at(start_micros + stream.shard_micros)


def event_record(stream: Stream, change: LogRecord) -> dict[str, Any]:
    """A change as Lambda shows it: like GetRecords, with the stream's ARN and a service's name in lower case."""
    shown = record(stream, change)
    if change.origin == SERVICE:
        shown["userIdentity"] = SERVICE_IDENTITY
    shown["eventSourceARN"] = stream.arn
    return shown
