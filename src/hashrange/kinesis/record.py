"""A change as it goes to a Kinesis stream: a JSON document, and the key that keeps an item's changes together."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any
from uuid import UUID

import orjson

from hashrange.engine.change_log import LogRecord
from hashrange.engine.table import SERVICE
from hashrange.kinesis.destination import MICROSECOND, Destinations

SERVICE_IDENTITY = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


def payload(table: Destinations, precision: str | None, change: LogRecord) -> bytes:
    """Both images, whatever a stream of the table shows; no sequence number."""
    is_micro = precision == MICROSECOND
    shown: dict[str, Any] = {
        "ApproximateCreationDateTime": change.written_at_micros if is_micro else change.written_at_micros // 1000
    }
    if is_micro:
        shown["ApproximateCreationDateTimePrecision"] = MICROSECOND
    shown["Keys"] = orjson.Fragment(change.keys)
    if change.new is not None:
        shown["NewImage"] = orjson.Fragment(change.new)
    if change.old is not None:
        shown["OldImage"] = orjson.Fragment(change.old)
    shown["SizeBytes"] = change.keys_size + change.new_size + change.old_size
    return orjson.dumps(
        {
            "awsRegion": table.region,
            "eventID": event_id(table, change),
            "eventName": change.event,
            "userIdentity": SERVICE_IDENTITY if change.origin == SERVICE else None,
            "recordFormat": "application/json",
            "tableName": table.table_name,
            "dynamodb": shown,
            "eventSource": "aws:dynamodb",
        }
    )


def partition_key(change: LogRecord) -> str:
    return blake2b(change.keys, digest_size=16).hexdigest().upper()


def event_id(table: Destinations, change: LogRecord) -> str:
    return str(UUID(bytes=blake2b(f"{table.table_id}/{change.sequence}".encode(), digest_size=16).digest()))
