"""What the change log tells about one item, and about a table's past."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import Engine
from hashrange.backup.as_of import items_as_of
from hashrange.engine.change_log import position_at
from hashrange.engine.database import DatabaseSettings
from hashrange.engine.scope import scope_of
from hashrange.engine.table import Table
from hashrange.history.coverage import known_since
from hashrange.history.versions import Version, item_as_of, versions
from hashrange.storage import Snapshot

BOTH = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
DAY = 24 * 3600


def engine_with(view: str | None = "NEW_AND_OLD_IMAGES", **members: Any) -> Engine:
    engine = Engine(settings=DatabaseSettings(stream_shards=4))
    if view is not None:
        members["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": view}
    engine.create_table(**members)
    return engine


def key(pk: str = "a", sk: str = "1") -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def put(engine: Engine, name: str = "a", **attributes: Any) -> None:
    engine.call("PutItem", TableName="table", Item={**key(name), **attributes})
    engine.clock.advance(1)


def table_of(engine: Engine, snapshot: Snapshot) -> Table:
    return engine.db.table(snapshot, scope_of("000000000000", "us-east-1"), "table")


def versions_of(engine: Engine, name: str = "a") -> list[Version]:
    with engine.store.read() as snapshot:
        return list(versions(snapshot, table_of(engine, snapshot), key(name)))


def since(engine: Engine) -> int | None:
    with engine.store.read() as snapshot:
        return known_since(snapshot, table_of(engine, snapshot).definition, engine.clock.micros())


def test_every_change_of_an_item_is_a_version_and_nobody_elses_is() -> None:
    engine = engine_with()
    put(engine, n={"N": "1"})
    for other in "bcdefgh":
        put(engine, other)
    put(engine, n={"N": "2"})
    engine.call("DeleteItem", TableName="table", Key=key())
    found = versions_of(engine)
    assert [(version.event, version.origin) for version in found] == [
        ("INSERT", "user"),
        ("MODIFY", "user"),
        ("REMOVE", "user"),
    ]
    assert [version.old for version in found[1:]] == [version.new for version in found[:-1]]
    assert (found[0].old, found[-1].new) == (None, None)
    assert all(version.knows_old and version.knows_new for version in found)
    assert found[1].at_micros - found[0].at_micros == 8_000_000


def test_a_deletion_by_time_to_live_names_the_service() -> None:
    engine = engine_with()
    engine.call(
        "UpdateTimeToLive",
        TableName="table",
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
    )
    put(engine, expires={"N": str(int(engine.clock.seconds()) + 10)})
    engine.clock.advance(60)
    engine.run_jobs()
    assert [(version.event, version.origin) for version in versions_of(engine)] == [
        ("INSERT", "user"),
        ("REMOVE", "service"),
    ]


@pytest.mark.parametrize(
    ("view", "knows"),
    [("KEYS_ONLY", (False, False)), ("NEW_IMAGE", (False, True)), ("OLD_IMAGE", (True, False))],
)
def test_a_version_does_not_pretend_to_know_what_the_log_did_not_keep(view: str, knows: tuple[bool, bool]) -> None:
    engine = engine_with(view)
    put(engine, n={"N": "1"})
    put(engine, n={"N": "2"})
    engine.call("DeleteItem", TableName="table", Key=key())
    first, second, third = versions_of(engine)
    assert first.knows_old
    assert third.knows_new
    assert (second.knows_old, second.knows_new) == knows


def test_the_past_is_known_from_the_stream_on_and_for_a_day() -> None:
    engine = engine_with(None)
    assert since(engine) is None
    engine.clock.advance(5)
    engine.call("UpdateTable", TableName="table", StreamSpecification=BOTH)
    enabled = engine.clock.micros()
    engine.clock.advance(100)
    assert since(engine) == enabled
    engine.clock.advance(2 * DAY)
    assert since(engine) == engine.clock.micros() - DAY * 1_000_000
    engine.call("UpdateTable", TableName="table", StreamSpecification={"StreamEnabled": False})
    assert since(engine) is None


def test_recovery_keeps_the_past_for_longer_than_a_stream() -> None:
    engine = engine_with("KEYS_ONLY")
    engine.clock.advance(5)
    put(engine, n={"N": "1"})
    enabled = engine.clock.micros()
    recovery = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7}
    engine.call("UpdateContinuousBackups", TableName="table", PointInTimeRecoverySpecification=recovery)
    engine.clock.advance(3 * DAY)
    put(engine, n={"N": "2"})
    engine.run_jobs()
    assert since(engine) == enabled
    with engine.store.read() as snapshot:
        before = item_as_of(snapshot, table_of(engine, snapshot), key(), position_at(enabled + 1))
    assert before is not None
    assert before.attributes["n"] == {"N": "1"}
    engine.clock.advance(7 * DAY)
    assert since(engine) == engine.clock.micros() - 7 * DAY * 1_000_000


@pytest.mark.parametrize("view", ["KEYS_ONLY", "NEW_IMAGE"])
def test_a_stream_without_old_images_keeps_no_past(view: str) -> None:
    assert since(engine_with(view)) is None


writes = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.sampled_from([0, 1, 1])), max_size=25)


@settings(deadline=None, max_examples=40)
@given(writes)
def test_an_item_as_of_any_second_is_what_a_reader_saw_then(story: list[tuple[str, int, int]]) -> None:
    engine = engine_with()
    table: dict[str, dict[str, Any]] = {}
    seen: list[tuple[int, dict[str, dict[str, Any]]]] = []
    for name, value, pause in story:
        if value:
            table[name] = {**key(name), "n": {"N": str(value)}}
            engine.call("PutItem", TableName="table", Item=table[name])
        else:
            table.pop(name, None)
            engine.call("DeleteItem", TableName="table", Key=key(name))
        if pause:
            seen.append((engine.clock.micros(), dict(table)))
            engine.clock.advance(pause)
    with engine.store.read() as snapshot:
        read = table_of(engine, snapshot)
        for at_micros, expected in seen:
            position = position_at(at_micros + 1)
            for name in "abc":
                item = item_as_of(snapshot, read, key(name), position)
                assert (item and item.attributes) == expected.get(name)
            everything = [item.attributes for _, item in items_as_of(snapshot, read.definition, position)]
            assert sorted(everything, key=str) == sorted(expected.values(), key=str)
