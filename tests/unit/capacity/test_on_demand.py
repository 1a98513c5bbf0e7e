"""On-demand tables: declared maxima, switching modes, warm throughput, and how they grow."""

from __future__ import annotations

from typing import Any

import pytest

from harness import ApiError, Engine
from hashrange.capacity.ledger import CapacitySettings
from hashrange.capacity.limits import Throttling, partition_count
from hashrange.engine.definition import TableDefinition
from hashrange.engine.scope import scope_of
from hashrange.jobs import grow_tables

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/table"
LARGE = {"S": "x" * 390_000}  # an item of 381 units


def service(**settings: Any) -> Engine:
    engine = Engine(capacity=CapacitySettings(throttling=Throttling.SERVICE, **settings))
    engine.create_table(BillingMode="PAY_PER_REQUEST")
    return engine


def put(engine: Engine, partition: str, data: dict[str, str] = LARGE) -> float:
    item = {"pk": {"S": partition}, "sk": {"S": "0"}, "data": data}
    answer = engine.call("PutItem", TableName="table", Item=item, ReturnConsumedCapacity="TOTAL")
    return float(answer["ConsumedCapacity"]["CapacityUnits"])


def units_until_throttled(engine: Engine, partitions: int) -> tuple[float, ApiError]:
    total = 0.0
    for number in range(1000):
        try:
            total += put(engine, str(number % partitions))
        except ApiError as error:
            return total, error
    raise AssertionError("never throttled")


def test_a_declared_maximum_is_enforced() -> None:
    engine = Engine()
    engine.create_table(BillingMode="PAY_PER_REQUEST", OnDemandThroughput={"MaxWriteRequestUnits": 10})
    total, error = units_until_throttled(engine, 1)
    assert 3000 <= total < 3000 + 390
    assert error.code == "ThrottlingException"
    assert error.body["__type"] == "com.amazon.coral.availability#ThrottlingException"
    assert error.body["throttlingReasons"] == [{"reason": "TableWriteMaxOnDemandThroughputExceeded", "resource": ARN}]
    engine.call("UpdateTable", TableName="table", OnDemandThroughput={"MaxWriteRequestUnits": -1})
    for _ in range(100):
        put(engine, "p")


def test_without_service_limits_an_on_demand_table_takes_anything() -> None:
    engine = Engine()
    engine.create_table(BillingMode="PAY_PER_REQUEST")
    for _ in range(200):
        put(engine, "p")


def test_a_new_table_takes_four_thousand_writes_a_second() -> None:
    engine = service()
    total, error = units_until_throttled(engine, 100)
    assert 4000 <= total < 4000 + 390
    assert str(error).startswith("ThrottlingException: Throughput exceeds the current capacity")


def test_a_partition_takes_a_thousand_writes_a_second() -> None:
    total, error = units_until_throttled(service(), 1)
    assert 1000 <= total < 1000 + 390
    assert error.body["throttlingReasons"] == [{"reason": "TableWriteKeyRangeThroughputExceeded", "resource": ARN}]


def test_without_adaptive_capacity_a_partition_has_its_share() -> None:
    engine = Engine(capacity=CapacitySettings(throttling=Throttling.SERVICE, adaptive=False))
    engine.create_table(
        BillingMode="PROVISIONED",
        ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 2000},  # three partitions
    )
    total, _ = units_until_throttled(engine, 1)
    assert 666 <= total < 667 + 390


def test_a_partition_that_stays_hot_is_split_between_its_keys() -> None:
    engine = service(split_minutes=2)
    before = hot_second(engine)
    for _ in range(3):
        engine.clock.advance(60)
        hot_second(engine)
    engine.run_jobs()
    engine.clock.advance(60)
    assert hot_second(engine) > 1.5 * before
    assert engine.problems() == []


def test_a_table_without_capacity_is_not_split_for_it() -> None:
    engine = Engine(capacity=CapacitySettings(throttling=Throttling.SERVICE, split_minutes=1))
    engine.create_table(
        BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    )
    for _ in range(3):
        hot_second(engine)
        engine.clock.advance(60)
    engine.run_jobs()
    assert splits(engine) == ()


def test_a_table_is_split_when_its_partitions_are_full(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = service()
    put(engine, "a")
    begins_with = partition_count(definition(engine))
    monkeypatch.setattr(grow_tables, "PARTITION_BYTES", 390_000 // (2 * begins_with))
    engine.run_jobs()
    assert begins_with < len(splits(engine)) + 1 <= 2 * begins_with + 1
    engine.run_jobs()  # and that is all


def splits(engine: Engine) -> tuple[str, ...]:
    return definition(engine).partition_splits


def definition(engine: Engine) -> TableDefinition:
    with engine.db.read() as snapshot:
        return engine.db.table(snapshot, scope_of("000000000000", "us-east-1"), "table").definition


def hot_second(engine: Engine) -> float:
    """Units written in one second to sort keys of one partition key, until most are refused."""
    total, refused = 0.0, 0
    for number in range(40):
        item = {"pk": {"S": "hot"}, "sk": {"S": str(number % 10)}, "data": {"S": "x" * 100_000}}
        try:
            engine.call("PutItem", TableName="table", Item=item)
            total += 98
        except ApiError:
            refused += 1
    assert refused
    return total


def test_a_table_grows_to_twice_what_was_used_half_an_hour_ago() -> None:
    engine = service()
    for _ in range(60):  # almost a minute at 3,430 units a second
        for number in range(9):
            put(engine, str(number))
        engine.clock.advance(1)
    flush(engine)
    engine.run_jobs()
    assert warm(engine)["WriteUnitsPerSecond"] == 4000
    engine.clock.advance(1860)
    engine.run_jobs()
    assert 6000 < warm(engine)["WriteUnitsPerSecond"] < 7000
    total, _ = units_until_throttled(engine, 1000)
    assert total > 6000


def flush(engine: Engine) -> None:
    engine.run_jobs()


def warm(engine: Engine) -> dict[str, int]:
    answer: dict[str, int] = engine.call("DescribeTable", TableName="table")["Table"]["WarmThroughput"]
    return answer


def switch(engine: Engine, mode: str, read: int = 5, write: int = 5) -> None:
    if mode == "PROVISIONED":
        given = {"ReadCapacityUnits": read, "WriteCapacityUnits": write}
        engine.call("UpdateTable", TableName="table", BillingMode=mode, ProvisionedThroughput=given)
    else:
        engine.call("UpdateTable", TableName="table", BillingMode=mode)


def test_a_table_changes_to_on_demand_at_most_four_times_a_day() -> None:
    engine = Engine()
    engine.create_table(
        BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    )
    for _ in range(4):
        switch(engine, "PAY_PER_REQUEST")
        switch(engine, "PROVISIONED")
        engine.clock.advance(3600)
    with pytest.raises(ApiError) as caught:
        switch(engine, "PAY_PER_REQUEST")
    assert caught.value.code == "LimitExceededException"
    assert caught.value.message is not None
    assert caught.value.message.startswith(
        "Subscriber limit exceeded: Update to PayPerRequest mode are limited to 4 times in 1 day(s)."
    )
    engine.clock.advance(20 * 3600 + 1)
    switch(engine, "PAY_PER_REQUEST")


def test_warm_throughput_never_falls() -> None:
    engine = Engine()
    engine.create_table(
        BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 500, "WriteCapacityUnits": 7000}
    )
    assert warm(engine) == {"ReadUnitsPerSecond": 500, "WriteUnitsPerSecond": 7000, "Status": "ACTIVE"}
    engine.call(
        "UpdateTable", TableName="table", ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    )
    assert warm(engine) == {"ReadUnitsPerSecond": 500, "WriteUnitsPerSecond": 7000, "Status": "ACTIVE"}
    switch(engine, "PAY_PER_REQUEST")
    assert warm(engine) == {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 7000, "Status": "ACTIVE"}
    switch(engine, "PROVISIONED")
    assert warm(engine) == {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 7000, "Status": "ACTIVE"}
