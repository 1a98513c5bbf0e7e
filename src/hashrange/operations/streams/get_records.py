"""GetRecords: the changes of a shard from a position on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.scope import scope_of
from hashrange.errors import TrimmedDataAccessException
from hashrange.limits import RECORDS_PAGE_MAX
from hashrange.operations.operation import Operation, Request
from hashrange.operations.streams.lookup import find_shard, find_stream
from hashrange.streams.iterator import ShardIterator
from hashrange.streams.records import read_records, trim_position
from hashrange.streams.stream import Stream


def get_records(db: Database, request: Request) -> dict[str, Any]:
    now = db.clock.micros()
    iterator = ShardIterator.parse(request["ShardIterator"], now)
    limit = request.get("Limit", RECORDS_PAGE_MAX)
    with db.read() as snapshot:
        stream = find_stream(db, snapshot, request.scope, iterator.stream_arn)
        shard = find_shard(db, snapshot, stream, iterator.shard_id)
        oldest = trim_position(now)
        if shard.start < iterator.position < oldest:
            raise TrimmedDataAccessException("The requested sequence number is beyond the trim point of the stream")
        records, position, exhausted = read_records(snapshot, stream, shard, max(iterator.position, oldest), limit)
    count(db, stream, records)
    answer: dict[str, Any] = {"Records": records}
    if not (exhausted and shard.is_closed):
        # A shard's beginning stands for its oldest record, whatever is trimmed until it is asked for again.
        following = position if records else iterator.position
        answer["NextShardIterator"] = replace(iterator, position=following, issued_at_micros=now).text()
    return answer


def count(db: Database, stream: Stream, records: list[dict[str, Any]]) -> None:
    dimensions = {"Operation": "GetRecords", "StreamLabel": stream.label}
    scope = scope_of(stream.account, stream.region)
    size_bytes = sum(record["dynamodb"].get("SizeBytes", 0) for record in records)
    db.recorder.note(scope, stream.table_name, "ReturnedRecordsCount", len(records), dimensions)
    db.recorder.note(scope, stream.table_name, "ReturnedBytes", size_bytes, dimensions)


OPERATION = Operation(name="GetRecords", run=get_records, service="dynamodbstreams")
