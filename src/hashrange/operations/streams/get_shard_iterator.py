"""GetShardIterator: a position in a shard to read from."""

from __future__ import annotations

from typing import Any

from hashrange.engine.change_log import last_sequence, position_at
from hashrange.engine.database import Database
from hashrange.errors import TrimmedDataAccessException, ValidationException
from hashrange.operations.operation import Operation, Request
from hashrange.operations.streams.lookup import find_shard, find_stream
from hashrange.storage.interface import Snapshot
from hashrange.streams.iterator import ShardIterator, parse_sequence
from hashrange.streams.records import trim_position
from hashrange.streams.stream import Shard

BY_NUMBER = ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER")
BY_TIME = "AT_TIMESTAMP"


def get_shard_iterator(db: Database, request: Request) -> dict[str, Any]:
    check_sequence_number(request)
    now = db.clock.micros()
    with db.read() as snapshot:
        stream = find_stream(db, snapshot, request.scope, request["StreamArn"])
        shard = find_shard(db, snapshot, stream, request["ShardId"])
        position = position_of(request, snapshot, shard, now)
    return {"ShardIterator": ShardIterator(stream.arn, shard.id, position, now).text()}


def check_sequence_number(request: Request) -> None:
    """The two types that name a sequence number need one; the others cannot have one. So it is with a time, but that
    does no harm where it is not needed."""
    kind = request["ShardIteratorType"]
    if kind in BY_NUMBER and "SequenceNumber" not in request:
        raise ValidationException(f"SequenceNumber is required when ShardIteratorType is {kind}")
    if kind not in BY_NUMBER and "SequenceNumber" in request:
        raise ValidationException(f"SequenceNumber must not be specified when ShardIteratorType is {kind}")
    if kind == BY_TIME and "Timestamp" not in request:
        raise ValidationException(f"Timestamp is required when ShardIteratorType is {kind}")


def position_of(request: Request, snapshot: Snapshot, shard: Shard, now_micros: int) -> int:
    kind = request["ShardIteratorType"]
    if kind == "TRIM_HORIZON":
        return shard.start
    if kind == "LATEST":
        return min(max(shard.start, last_sequence(snapshot) + 1), shard.end)
    if kind == BY_TIME:
        return min(max(shard.start, position_of_time(request["Timestamp"], now_micros)), shard.end)
    sequence = parse_sequence(request["SequenceNumber"])
    if not shard.start <= sequence < shard.end:
        raise ValidationException(f"Invalid SequenceNumber: {request['SequenceNumber']}")
    if sequence < trim_position(now_micros):
        raise TrimmedDataAccessException("The requested sequence number is beyond the trim point of the stream")
    return sequence if kind == "AT_SEQUENCE_NUMBER" else sequence + 1


def position_of_time(timestamp: float, now_micros: int) -> int:
    """The first record that was written at a time or after it; of a time long ago, the first that there is."""
    micros = timestamp * 1_000_000
    if micros > now_micros:
        raise ValidationException("Timestamp cannot be in the future")
    return max(position_at(max(0, int(micros))), trim_position(now_micros))


OPERATION = Operation(name="GetShardIterator", run=get_shard_iterator, service="dynamodbstreams")
