"""ListStreams: the streams of an account in a region, or of one table."""

from __future__ import annotations

from itertools import islice
from typing import Any

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.scope import resolve_table
from hashrange.limits import STREAMS_PAGE_MAX
from hashrange.operations.operation import Operation, Request
from hashrange.operations.streams.lookup import find_stream
from hashrange.streams.stream import Stream
from hashrange.values.ordered import after


def list_streams(db: Database, request: Request) -> dict[str, Any]:
    limit = request.get("Limit", STREAMS_PAGE_MAX)
    prefix = keyspace.STREAM + request.scope.prefix
    if "TableName" in request:
        scope, name = resolve_table(request.scope, request["TableName"])
        prefix = keyspace.stream_key(scope.prefix, name, "")
    now = db.clock.micros()
    with db.read() as snapshot:
        start = prefix
        if "ExclusiveStartStreamArn" in request:
            last = find_stream(db, snapshot, request.scope, request["ExclusiveStartStreamArn"])
            start = max(prefix, last.stored_key + b"\0")
        found = (Stream.load(stored) for _, stored in snapshot.scan(start, after(prefix)))
        streams = list(islice((stream for stream in found if stream.is_readable(now)), limit + 1))
    answer: dict[str, Any] = {
        "Streams": [
            {"StreamArn": stream.arn, "TableName": stream.table_name, "StreamLabel": stream.label}
            for stream in streams[:limit]
        ]
    }
    if len(streams) > limit:
        answer["LastEvaluatedStreamArn"] = streams[limit - 1].arn
    return answer


OPERATION = Operation(name="ListStreams", run=list_streams, service="dynamodbstreams")
