"""Items as they were, and the changes since, are read from the log of however many slices."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import Engine
from hashrange.backup.as_of import items_as_of
from hashrange.engine.change_log import position_at
from hashrange.engine.database import DatabaseSettings
from hashrange.engine.definition import TableDefinition
from hashrange.engine.scope import scope_of
from unit.backup.history import create, delete, items, put, recovery, restore_to, restored

WRITES = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from([None, "x", "y"])), max_size=5)


def partitioned(engine: Engine, sk: str, value: str | None) -> None:
    """A write to a partition of its own, so that the writes of a test spread over the slices."""
    key = {"pk": {"S": sk}, "sk": {"S": sk}}
    if value is None:
        engine.call("DeleteItem", TableName="table", Key=key)
    else:
        engine.call("PutItem", TableName="table", Item={**key, "owner": {"S": value}})


def definition(engine: Engine) -> TableDefinition:
    with engine.db.read() as snapshot:
        table = engine.db.catalog.find(snapshot, scope_of("000000000000", "us-east-1"), "table")
    assert table is not None
    return table.definition


@pytest.mark.parametrize("slices", [1, 4])
@settings(max_examples=30, deadline=None)
@given(before=WRITES, history=st.lists(WRITES, min_size=1, max_size=5))
def test_every_moment_reads_as_it_was(slices: int, before: Any, history: Any) -> None:
    engine = Engine(settings=DatabaseSettings(stream_shards=slices))
    create(engine)
    for write in before:
        partitioned(engine, *write)
    recovery(engine)
    moments = {}
    for writes in history:
        for write in writes:
            partitioned(engine, *write)
        moments[engine.clock.micros()] = items(engine)
        engine.clock.advance(1)
    table = definition(engine)
    for number, (micros, expected) in enumerate(moments.items()):
        with engine.db.read() as snapshot:
            found = list(items_as_of(snapshot, table, position_at(micros + 1)))
            half = len(found) // 2
            start = found[half][0] if found else b""
            rest = list(items_as_of(snapshot, table, position_at(micros + 1), start=start))
        assert {item.attributes["sk"]["S"]: item.attributes for _, item in found} == expected
        assert [key for key, _ in found] == sorted(key for key, _ in found)
        assert [key for key, _ in rest] == [key for key, _ in found[half:]]
        restore_to(engine, micros / 1_000_000, f"restored-{number}")
        assert restored(engine, f"restored-{number}") == expected


def test_a_stream_shows_no_more_than_its_view_when_recovery_keeps_more() -> None:
    engine = Engine()
    create(engine, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    recovery(engine)
    put(engine, "a")
    delete(engine, "a")
    arn = engine.call("DescribeTable", TableName="table")["Table"]["LatestStreamArn"]
    shard = engine.call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    iterator = engine.call("GetShardIterator", StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    records = engine.call("GetRecords", ShardIterator=iterator["ShardIterator"])["Records"]
    assert [record["eventName"] for record in records] == ["INSERT", "REMOVE"]
    assert not any({"OldImage", "NewImage"} & set(record["dynamodb"]) for record in records)
