"""StreamSpecification: turning the stream of a table on and off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.engine.lifecycle import Mutation
from hashrange.errors import ValidationException
from hashrange.operations.tables.description import key_schema
from hashrange.operations.tables.schema import invalid
from hashrange.storage.interface import Snapshot
from hashrange.streams.stream import Stream, new_stream

Wire = Mapping[str, Any]


def check_new_table_stream(wanted: Wire | None) -> str | None:
    """The view type that a new table's stream shall have; None for no stream."""
    if wanted is None:
        return None
    view: str | None = wanted.get("StreamViewType")
    if wanted["StreamEnabled"] and view is None:
        raise invalid("Table is being created with a stream enabled, UpdateViewType is required")
    if not wanted["StreamEnabled"] and view is not None:
        raise invalid("Table is being created with a stream disabled, UpdateViewType should not be specified")
    return view


def check_stream_change(wanted: Wire) -> None:
    if wanted["StreamEnabled"] and "StreamViewType" not in wanted:
        raise invalid("If stream is being enabled then UpdateViewType is required")
    if not wanted["StreamEnabled"] and "StreamViewType" in wanted:
        raise invalid("If stream is being disabled, then UpdateViewType must not be specified")


def enable(db: Database, table: TableDefinition, view: str) -> tuple[TableDefinition, Mutation]:
    """The table with a new stream, and the stream's record."""
    if table.stream_view is not None:
        raise ValidationException(f"Table already has an enabled stream: TableName: {table.name}")
    stream = new_stream(table, view, key_schema(table.key), db.settings.stream_shard_micros, db.clock.micros())
    enabled = replace(table, stream_view=view, stream_label=stream.label)
    return enabled, (stream.stored_key, stream.dump())


def disable(snapshot: Snapshot, table: TableDefinition, now_micros: int) -> tuple[TableDefinition, Mutation]:
    """The table without its stream, which stays readable for a day."""
    if table.stream_view is None or table.stream_label is None:
        raise ValidationException(f"Table has no stream to disable: TableName: {table.name}")
    scope = keyspace.scope_prefix(table.account, table.region)
    key = keyspace.stream_key(scope, table.name, table.stream_label)
    stored = snapshot.get(key)
    assert stored is not None, "an enabled stream has its record"
    stream = replace(Stream.load(stored), disabled_at_micros=now_micros)
    return replace(table, stream_view=None), (key, stream.dump())
