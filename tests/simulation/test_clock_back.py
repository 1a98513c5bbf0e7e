"""A clock that jumps back: numbers still grow, what has happened does not happen again, and nothing ends too early."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Engine
from hashrange.engine.database import DatabaseSettings

HOUR = 3600.0
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


@pytest.fixture
def engine() -> Engine:
    return Engine()


def key(name: str) -> dict[str, Any]:
    return {"pk": {"S": name}, "sk": {"S": "x"}}


def put(engine: Engine, name: str, version: int, **attributes: Any) -> None:
    engine.call("PutItem", TableName="table", Item={**key(name), "version": {"N": str(version)}, **attributes})


def versions(engine: Engine, table: str = "table") -> dict[str, int]:
    items = engine.call("Scan", TableName=table)["Items"]
    return {item["pk"]["S"]: int(item["version"]["N"]) for item in items}


def records(engine: Engine, arn: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for shard in engine.call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]:
        wanted = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        iterator = engine.call("GetShardIterator", **wanted)["ShardIterator"]
        found += engine.call("GetRecords", ShardIterator=iterator)["Records"]
    return found


def test_sequence_numbers_grow_and_the_stream_has_every_change_once_the_time_has_come_again(engine: Engine) -> None:
    arn = engine.create_table(StreamSpecification=STREAM)["LatestStreamArn"]
    for version in range(1, 40):
        put(engine, "item", version)
        engine.clock.advance(-HOUR if version % 7 == 0 else 11.0)
    engine.clock.advance(10 * HOUR)
    engine.run_jobs()
    found = records(engine, arn)
    assert [int(record["dynamodb"]["NewImage"]["version"]["N"]) for record in found] == list(range(1, 40))
    numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in found]
    assert numbers == sorted(set(numbers))
    assert engine.problems() == []


def test_a_transaction_does_not_happen_again_because_its_time_comes_again(engine: Engine) -> None:
    engine.create_table()
    update = {
        "TableName": "table",
        "Key": key("counter"),
        "UpdateExpression": "ADD version :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    again: dict[str, Any] = {"ClientRequestToken": "token", "TransactItems": [{"Update": update}]}
    engine.call("TransactWriteItems", **again)
    for jump in (-HOUR, HOUR + 300, -400):  # never more than ten minutes after the first time
        engine.clock.advance(jump)
        engine.run_jobs()
        engine.call("TransactWriteItems", **again)
        assert versions(engine) == {"counter": 1}
    engine.clock.advance(1200)
    engine.call("TransactWriteItems", **again)
    assert versions(engine) == {"counter": 2}


def test_items_do_not_expire_before_their_time_comes_again(engine: Engine) -> None:
    engine.create_table()
    expiry = {"AttributeName": "expires", "Enabled": True}
    engine.call("UpdateTimeToLive", TableName="table", TimeToLiveSpecification=expiry)
    now = int(engine.clock.seconds())
    put(engine, "soon", 1, expires={"N": str(now + 60)})
    put(engine, "later", 1, expires={"N": str(now + 600)})
    engine.clock.advance(61.5)
    engine.clock.advance(-HOUR)
    engine.run_jobs()
    assert set(versions(engine)) == {"soon", "later"}
    engine.clock.advance(HOUR)
    engine.run_jobs()
    assert set(versions(engine)) == {"later"}
    engine.clock.advance(-2 * HOUR)
    put(engine, "new", 1, expires={"N": str(now - 100)})  # in the past of the clock that was, not of the one that is
    engine.run_jobs()
    assert set(versions(engine)) == {"later", "new"}
    engine.clock.advance(3 * HOUR)
    engine.run_jobs()
    assert versions(engine) == {}
    assert engine.problems() == []


def test_a_backup_made_after_the_jump_has_what_was_there_then(engine: Engine) -> None:
    engine.create_table()
    for name in ("one", "two", "three"):
        put(engine, name, 1)
    recovery = {"PointInTimeRecoveryEnabled": True}
    engine.call("UpdateContinuousBackups", TableName="table", PointInTimeRecoverySpecification=recovery)
    put(engine, "one", 2)
    engine.clock.advance(-HOUR)
    put(engine, "two", 2)
    arn = engine.call("CreateBackup", TableName="table", BackupName="backup")["BackupDetails"]["BackupArn"]
    put(engine, "three", 2)
    put(engine, "four", 2)
    engine.run_jobs()
    engine.call("RestoreTableFromBackup", TargetTableName="restored", BackupArn=arn)
    engine.run_jobs()
    assert versions(engine, "restored") == {"one": 2, "two": 2, "three": 1}
    engine.call(
        "RestoreTableToPointInTime", SourceTableName="table", TargetTableName="latest", UseLatestRestorableTime=True
    )
    put(engine, "five", 1)
    engine.run_jobs()
    assert versions(engine, "latest") == {"one": 2, "two": 2, "three": 2, "four": 2}
    assert engine.problems() == []


def test_a_table_that_was_ready_may_wait_again_but_becomes_ready() -> None:
    engine = Engine(settings=DatabaseSettings(table_delay_micros=5_000_000))
    engine.create_table()

    def status() -> str:
        answer: str = engine.call("DescribeTable", TableName="table")["Table"]["TableStatus"]
        return answer

    engine.clock.advance(6)
    assert status() == "ACTIVE"
    put(engine, "kept", 1)
    engine.clock.advance(-HOUR)
    assert status() in ("CREATING", "ACTIVE")
    engine.clock.advance(HOUR)
    assert status() == "ACTIVE"
    assert versions(engine) == {"kept": 1}
    assert engine.problems() == []
