"""Stream records: changes of the log in the form that consumers read."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import orjson

from hashrange.engine import keyspace
from hashrange.engine.change_log import LogRecord, position_at
from hashrange.engine.table import SERVICE
from hashrange.limits import RECORDS_PAGE_BYTES_MAX
from hashrange.storage.interface import Snapshot
from hashrange.streams.iterator import sequence_text
from hashrange.streams.stream import RETENTION_MICROS, Shard, Stream

EVENT_VERSION = "1.1"
EVENT_SOURCE = "aws:dynamodb"
SERVICE_IDENTITY = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
SHOWS_NEW = ("NEW_IMAGE", "NEW_AND_OLD_IMAGES")
SHOWS_OLD = ("OLD_IMAGE", "NEW_AND_OLD_IMAGES")


def trim_position(now_micros: int) -> int:
    """Records before this one are gone, or as good as gone."""
    return position_at(max(0, now_micros - RETENTION_MICROS))


def read_records(
    snapshot: Snapshot, stream: Stream, shard: Shard, position: int, limit: int
) -> tuple[list[dict[str, Any]], int, bool]:
    """Records from a position on, the position after them, and whether the shard had no more."""
    records: list[dict[str, Any]] = []
    size_bytes = 0
    start = keyspace.log_key(stream.table_id, shard.slice, max(position, shard.start))
    end = keyspace.log_key(stream.table_id, shard.slice, shard.end)
    if start >= end:
        return [], position, True
    for key, stored in snapshot.scan(start, end):
        size_bytes += len(stored)
        if len(records) == limit or (records and size_bytes > RECORDS_PAGE_BYTES_MAX):
            return records, position, False
        change = LogRecord.load(key, stored)
        records.append(record(stream, change))
        position = change.sequence + 1
    return records, position, True


def record(stream: Stream, change: LogRecord) -> dict[str, Any]:
    """One change as the stream's view shows it."""
    shown: dict[str, Any] = {
        "ApproximateCreationDateTime": change.written_at_micros // 1_000_000,
        "Keys": orjson.Fragment(change.keys),
    }
    size_bytes = change.keys_size
    if change.new is not None and stream.view in SHOWS_NEW:
        shown["NewImage"] = orjson.Fragment(change.new)
        size_bytes += change.new_size
    if change.old is not None and stream.view in SHOWS_OLD:
        shown["OldImage"] = orjson.Fragment(change.old)
        size_bytes += change.old_size
    shown["SequenceNumber"] = sequence_text(change.sequence)
    shown["SizeBytes"] = size_bytes
    shown["StreamViewType"] = stream.view
    answer = {
        "eventID": event_id(stream, change),
        "eventName": change.event,
        "eventVersion": EVENT_VERSION,
        "eventSource": EVENT_SOURCE,
        "awsRegion": stream.region,
        "dynamodb": shown,
    }
    if change.origin == SERVICE:
        answer["userIdentity"] = SERVICE_IDENTITY
    return answer


def event_id(stream: Stream, change: LogRecord) -> str:
    return blake2b(f"{stream.arn}/{change.sequence}".encode(), digest_size=16).hexdigest()
