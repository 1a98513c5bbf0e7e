"""DescribeStream: a stream and its shards."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.limits import SHARDS_PAGE_MAX
from hashrange.operations.operation import Operation, Request
from hashrange.operations.streams.lookup import find_shard, find_stream, shards
from hashrange.storage.interface import Snapshot
from hashrange.streams.iterator import sequence_text
from hashrange.streams.stream import Shard, Stream


def describe_stream(db: Database, request: Request) -> dict[str, Any]:
    limit = request.get("Limit", SHARDS_PAGE_MAX)
    with db.read() as snapshot:
        stream = find_stream(db, snapshot, request.scope, request["StreamArn"])
        found = chosen(db, snapshot, request, stream)
    description: dict[str, Any] = {
        "StreamArn": stream.arn,
        "StreamLabel": stream.label,
        "StreamStatus": stream.status,
        "StreamViewType": stream.view,
        "CreationRequestDateTime": stream.created_at_micros // 1000 / 1000,
        "TableName": stream.table_name,
        "KeySchema": stream.key,
        "Shards": [describe(shard) for shard in found[:limit]],
    }
    if len(found) > limit:
        description["LastEvaluatedShardId"] = found[limit - 1].id
    return {"StreamDescription": description}


def chosen(db: Database, snapshot: Snapshot, request: Request, stream: Stream) -> list[Shard]:
    """The shards after the exclusive start, or the children of one of them."""
    found = shards(db, snapshot, stream)
    wanted = request.get("ShardFilter")
    if wanted:
        return [shard for shard in found if shard.parent_id == wanted.get("ShardId")]
    if "ExclusiveStartShardId" in request:
        last = find_shard(db, snapshot, stream, request["ExclusiveStartShardId"])
        return found[found.index(last) + 1 :]
    return found


def describe(shard: Shard) -> dict[str, Any]:
    numbers = {"StartingSequenceNumber": sequence_text(shard.start)}
    if shard.is_closed:
        numbers["EndingSequenceNumber"] = sequence_text(shard.end - 1)
    described: dict[str, Any] = {"ShardId": shard.id, "SequenceNumberRange": numbers}
    if shard.parent_id is not None:
        described["ParentShardId"] = shard.parent_id
    return described


OPERATION = Operation(name="DescribeStream", run=describe_stream, service="dynamodbstreams")
