"""Finding streams and shards by the names that clients use."""

from __future__ import annotations

import re

from hashrange.engine import keyspace
from hashrange.engine.change_log import last_sequence
from hashrange.engine.database import Database
from hashrange.engine.scope import Scope
from hashrange.errors import ResourceNotFoundException, ValidationException
from hashrange.storage.interface import Snapshot
from hashrange.streams.stream import Shard, Stream, shards_of

STREAM_ARN = re.compile(r"arn:aws[a-z-]*:dynamodb:([^:]+):([^:]*):table/([a-zA-Z0-9_.-]+)/stream/([^/|]+)")


def find_stream(db: Database, snapshot: Snapshot, scope: Scope, arn: str) -> Stream:
    match = STREAM_ARN.fullmatch(arn)
    if match is None:
        raise ValidationException(f"Invalid StreamArn: {arn}")
    region, account, table_name, label = match.groups()
    key = keyspace.stream_key(keyspace.scope_prefix(account, region), table_name, label)
    stored = snapshot.get(key)
    if stored is None or region != scope.region or not Stream.load(stored).is_readable(db.clock.micros()):
        raise ResourceNotFoundException(f"Requested resource not found: Stream: {arn} not found")
    return Stream.load(stored)


def shards(db: Database, snapshot: Snapshot, stream: Stream) -> list[Shard]:
    return shards_of(stream, db.clock.micros(), last_sequence(snapshot))


def find_shard(db: Database, snapshot: Snapshot, stream: Stream, shard_id: str) -> Shard:
    for shard in shards(db, snapshot, stream):
        if shard.id == shard_id:
            return shard
    raise ResourceNotFoundException(
        f"Requested resource not found: Shard does not exist. ShardId: {shard_id}, StreamArn: {stream.arn}"
    )
