"""DynamoDB Streams: a stream, its shards and their lineage.

A stream is a view of a table's change log from the moment it was enabled. Its shards need no bookkeeping: each slice
of the log is cut at regular intervals from the stream's beginning, and each piece is a shard whose parent is the
piece before it. An item's changes are always in the same slice, so they follow one line of shards, in order.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import blake2b

import orjson

from hashrange.engine import keyspace
from hashrange.engine.change_log import position_at
from hashrange.engine.definition import TableDefinition
from hashrange.limits import STREAM_RETENTION_SECONDS

RETENTION_MICROS = STREAM_RETENTION_SECONDS * 1_000_000
CLOSING_MICROS = 60_000_000
"""A shard that no later change shows to be complete is called closed after this long: by then no commit that began
before its end can still be under way."""


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream of one table. It outlives the table, and is readable for a day after it was disabled."""

    account: str
    region: str
    table_name: str
    table_id: int
    label: str
    view: str
    key: list[dict[str, str]]
    slices: int
    shard_micros: int  # how long a shard stays open before its child follows
    created_at_micros: int
    disabled_at_micros: int | None = None

    @property
    def arn(self) -> str:
        return f"arn:aws:dynamodb:{self.region}:{self.account}:table/{self.table_name}/stream/{self.label}"

    @property
    def stored_key(self) -> bytes:
        scope = keyspace.scope_prefix(self.account, self.region)
        return keyspace.stream_key(scope, self.table_name, self.label)

    def dump(self) -> bytes:
        return orjson.dumps(asdict(self))

    @classmethod
    def load(cls, stored: bytes) -> Stream:
        return cls(**orjson.loads(stored))

    def is_readable(self, now_micros: int) -> bool:
        return self.disabled_at_micros is None or now_micros < self.disabled_at_micros + RETENTION_MICROS

    @property
    def status(self) -> str:
        return "ENABLED" if self.disabled_at_micros is None else "DISABLED"


def new_stream(
    table: TableDefinition, view: str, key: list[dict[str, str]], shard_micros: int, now_micros: int
) -> Stream:
    return Stream(
        account=table.account,
        region=table.region,
        table_name=table.name,
        table_id=table.id,
        label=label_at(now_micros),
        view=view,
        key=key,
        slices=table.log_slices,
        shard_micros=shard_micros,
        created_at_micros=now_micros,
    )


def label_at(micros: int) -> str:
    """The name of a stream: when it was made, in UTC, to the millisecond."""
    moment = datetime.fromtimestamp(micros / 1_000_000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{micros // 1000 % 1000:03d}"


@dataclass(frozen=True, slots=True)
class Shard:
    """A piece of one slice of the log: sequence numbers from `start`, included, to `end`, excluded."""

    id: str
    slice: int
    start: int
    end: int
    parent_id: str | None
    is_closed: bool


def shard_id(stream: Stream, slice_number: int, start: int) -> str:
    tag = blake2b(f"{stream.arn}/{slice_number}/{start}".encode(), digest_size=4).hexdigest()
    return f"shardId-{start:020d}-{tag}"


def shards_of(stream: Stream, now_micros: int, last_sequence: int) -> list[Shard]:
    """All shards that still have something to read, oldest first.

    Sequence numbers are given out in the order of commits, so a snapshot whose last one lies after the end of a shard
    has all of the shard.
    """
    shard_micros = stream.shard_micros
    until = now_micros if stream.disabled_at_micros is None else stream.disabled_at_micros
    newest = (until - stream.created_at_micros) // shard_micros
    trimmed_at = now_micros - RETENTION_MICROS
    oldest = max(0, (trimmed_at - stream.created_at_micros) // shard_micros)
    shards: list[Shard] = []
    for piece in range(oldest, newest + 1):
        start_micros = stream.created_at_micros + piece * shard_micros
        end_micros = start_micros + shard_micros
        is_cut = stream.disabled_at_micros is not None and stream.disabled_at_micros < end_micros
        if is_cut:
            end_micros = until + 1
        if end_micros <= trimmed_at:
            continue
        is_complete = last_sequence >= position_at(end_micros) or now_micros >= end_micros + CLOSING_MICROS
        for slice_number in range(stream.slices):
            parent = position_at(start_micros - shard_micros)
            shards.append(
                Shard(
                    id=shard_id(stream, slice_number, position_at(start_micros)),
                    slice=slice_number,
                    start=position_at(start_micros),
                    end=position_at(end_micros),
                    parent_id=shard_id(stream, slice_number, parent) if piece else None,
                    is_closed=is_cut or is_complete,
                )
            )
    return shards
