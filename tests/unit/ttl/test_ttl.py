"""Expired items go, others stay, and the queue says the truth."""

from typing import Any

import pytest

from harness import Engine, expect

YEAR = 365 * 24 * 3600
INDEX = {
    "IndexName": "by-owner",
    "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.create_table(
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "owner")],
        GlobalSecondaryIndexes=[INDEX],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"},
    )
    return engine


def enable(engine: Engine, attribute: str = "expires", enabled: bool = True) -> Any:
    return engine.call(
        "UpdateTimeToLive",
        TableName="table",
        TimeToLiveSpecification={"Enabled": enabled, "AttributeName": attribute},
    )


def put(engine: Engine, sk: str, expires: dict[str, Any] | None) -> None:
    item: dict[str, Any] = {"pk": {"S": "a"}, "sk": {"S": sk}, "owner": {"S": "me"}}
    if expires is not None:
        item["expires"] = expires
    engine.call("PutItem", TableName="table", Item=item)


def after(engine: Engine, seconds: float) -> dict[str, str]:
    return {"N": f"{engine.clock.seconds() + seconds:.3f}"}


def left(engine: Engine) -> list[str]:
    engine.run_jobs()
    assert engine.problems() == []
    return [item["sk"]["S"] for item in engine.call("Scan", TableName="table")["Items"]]


def test_items_go_soon_after_they_expire_and_not_before(engine: Engine) -> None:
    enable(engine)
    put(engine, "1", after(engine, 10))
    put(engine, "2", after(engine, 20.5))
    put(engine, "3", None)
    engine.clock.advance(9.9)
    assert left(engine) == ["1", "2", "3"]
    engine.clock.advance(1.2)
    assert left(engine) == ["2", "3"]
    engine.clock.advance(9.3)
    assert left(engine) == ["2", "3"]
    engine.clock.advance(1)
    assert left(engine) == ["3"]


def test_only_numbers_are_times_and_very_old_ones_are_kept(engine: Engine) -> None:
    enable(engine)
    past = engine.clock.seconds()
    put(engine, "text", {"S": str(int(past) - 100)})
    put(engine, "negative", {"N": "-5"})
    put(engine, "ancient", {"N": str(int(past - 5 * YEAR - 10))})
    put(engine, "old", {"N": str(int(past - 5 * YEAR + 1000))})
    put(engine, "huge", {"N": "1e100"})
    assert left(engine) == ["ancient", "huge", "negative", "text"]


def test_an_item_that_was_given_more_time_stays(engine: Engine) -> None:
    enable(engine)
    put(engine, "1", after(engine, 10))
    put(engine, "1", after(engine, 100))
    engine.clock.advance(50)
    assert left(engine) == ["1"]
    engine.clock.advance(60)
    assert left(engine) == []


def test_items_that_were_there_before_expire_too(engine: Engine) -> None:
    for number in range(1200):
        put(engine, str(number), after(engine, 10))
    put(engine, "stays", after(engine, 1000))
    enable(engine)
    engine.clock.advance(20)
    assert left(engine) == ["stays"]


def test_the_stream_says_who_deleted_an_item(engine: Engine) -> None:
    enable(engine)
    put(engine, "1", after(engine, 10))
    engine.clock.advance(20)
    assert left(engine) == []
    arn = engine.call("DescribeTable", TableName="table")["Table"]["LatestStreamArn"]
    shard = engine.call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    iterator = engine.call("GetShardIterator", StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")[
        "ShardIterator"
    ]
    record = engine.call("GetRecords", ShardIterator=iterator)["Records"][1]
    assert record["eventName"] == "REMOVE"
    assert record["userIdentity"] == {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
    assert record["dynamodb"]["OldImage"]["sk"] == {"S": "1"}


def test_disabling_forgets_the_queue_and_keeps_the_items(engine: Engine) -> None:
    enable(engine)
    put(engine, "1", after(engine, 10))
    enable(engine, enabled=False)
    engine.clock.advance(20)
    assert left(engine) == ["1"]
    with engine.store.read() as snapshot:
        assert list(snapshot.scan(b"q", b"r")) == []
        assert list(snapshot.scan(b"y", b"z")) == []


def test_a_deleted_table_leaves_no_queue(engine: Engine) -> None:
    enable(engine)
    put(engine, "1", after(engine, 10_000))
    engine.call("DeleteTable", TableName="table")
    engine.run_jobs()
    with engine.store.read() as snapshot:
        assert list(snapshot.scan(b"q", b"r")) == []
        assert list(snapshot.scan(b"y", b"z")) == []


def test_the_rules_of_changing_it(engine: Engine) -> None:
    describe = lambda: engine.call("DescribeTimeToLive", TableName="table")["TimeToLiveDescription"]  # noqa: E731
    assert describe() == {"TimeToLiveStatus": "DISABLED"}
    expect("ValidationException", "TimeToLive is already disabled", lambda: enable(engine, enabled=False))
    wanted = {"Enabled": True, "AttributeName": "expires"}
    assert enable(engine) == {"TimeToLiveSpecification": wanted}
    assert describe() == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
    expect("ValidationException", "TimeToLive is already enabled", lambda: enable(engine))
    expect(
        "ValidationException",
        "TimeToLive is active on a different AttributeName: current AttributeName is expires",
        lambda: enable(engine, "other"),
    )
