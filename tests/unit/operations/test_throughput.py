"""Provisioned throughput and its daily decreases, on a clock of ours."""

from functools import partial
from typing import Any

import pytest

from harness import ApiError, Engine, expect

HOUR = 3600


def units(read: int, write: int) -> dict[str, int]:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.clock.advance(-engine.clock.seconds() % 86_400)  # midnight UTC
    engine.create_table(BillingMode="PROVISIONED", ProvisionedThroughput=units(100, 100))
    return engine


def change(engine: Engine, read: int, write: int = 100) -> Any:
    engine.call("UpdateTable", TableName="table", ProvisionedThroughput=units(read, write))
    return engine.call("DescribeTable", TableName="table")["Table"]["ProvisionedThroughput"]


def test_four_decreases_a_day_are_free_and_then_one_an_hour(engine: Engine) -> None:
    for count, read in enumerate((90, 80, 70, 60), start=1):
        assert change(engine, read)["NumberOfDecreasesToday"] == count
    with pytest.raises(ApiError) as refused:
        change(engine, 50)
    assert refused.value.code == "LimitExceededException"
    assert "Number of decreases today: 4." in str(refused.value.message)
    engine.clock.advance(HOUR)
    assert change(engine, 50)["NumberOfDecreasesToday"] == 5
    with pytest.raises(ApiError):
        change(engine, 40)


def test_a_new_day_counts_from_the_start(engine: Engine) -> None:
    for read in (90, 80, 70, 60):
        change(engine, read)
    engine.clock.advance(24 * HOUR)
    assert change(engine, 50)["NumberOfDecreasesToday"] == 1


def test_decreases_of_yesterday_are_not_shown_today(engine: Engine) -> None:
    change(engine, 90)
    engine.clock.advance(24 * HOUR)
    table = engine.call("DescribeTable", TableName="table")["Table"]
    assert table["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0
    shown = engine.call("UpdateTable", TableName="table", DeletionProtectionEnabled=True)["TableDescription"]
    assert shown["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0


def test_increases_are_not_limited(engine: Engine) -> None:
    for read in range(101, 121):
        assert change(engine, read)["ReadCapacityUnits"] == read


def test_up_in_one_dimension_and_down_in_the_other_is_a_decrease_too(engine: Engine) -> None:
    shown = change(engine, 200, 50)
    assert shown["NumberOfDecreasesToday"] == 1
    assert shown["LastIncreaseDateTime"] == shown["LastDecreaseDateTime"]


def test_the_same_values_are_refused(engine: Engine) -> None:
    expect(
        "ValidationException",
        "The provisioned throughput for the table will not change. The requested value equals the current value. "
        "Current ReadCapacityUnits provisioned for the table: 100. Requested ReadCapacityUnits: 100. "
        "Current WriteCapacityUnits provisioned for the table: 100. Requested WriteCapacityUnits: 100. "
        "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
        lambda: change(engine, 100),
    )


def test_switching_billing_modes(engine: Engine) -> None:
    engine.call("UpdateTable", TableName="table", BillingMode="PAY_PER_REQUEST")
    table = engine.call("DescribeTable", TableName="table")["Table"]
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    expect(
        "ValidationException",
        "One or more parameter values were invalid: "
        "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
        lambda: engine.call("UpdateTable", TableName="table", BillingMode="PROVISIONED"),
    )
    engine.call("UpdateTable", TableName="table", BillingMode="PROVISIONED", ProvisionedThroughput=units(3, 4))
    table = engine.call("DescribeTable", TableName="table")["Table"]
    assert table["ProvisionedThroughput"]["WriteCapacityUnits"] == 4
    assert table["BillingModeSummary"]["BillingMode"] == "PROVISIONED"


INVALID = "One or more parameter values were invalid: "


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": units(1, 1)},
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
        ),
        ({"BillingMode": "PROVISIONED"}, "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"),
    ],
)
def test_a_billing_mode_without_its_throughput_is_told_before_a_missing_table(
    engine: Engine, asked: dict[str, Any], message: str
) -> None:
    for name in ("table", "missing"):
        call = partial(engine.call, "UpdateTable", TableName=name, **asked)
        expect("ValidationException", INVALID + message, call)


def test_an_empty_list_of_index_updates_asks_for_nothing(engine: Engine) -> None:
    with pytest.raises(ApiError, match="At least one of ProvisionedThroughput, "):
        engine.call("UpdateTable", TableName="table", GlobalSecondaryIndexUpdates=[])


def on_demand_table_with_index(engine: Engine, **members: Any) -> None:
    key = [{"AttributeName": "sk", "KeyType": "HASH"}]
    index = {"IndexName": "index", "KeySchema": key, "Projection": {"ProjectionType": "ALL"}, **members}
    engine.create_table("on-demand", GlobalSecondaryIndexes=[index])


def test_an_index_of_an_on_demand_table_takes_no_throughput(engine: Engine) -> None:
    on_demand_table_with_index(engine)
    update = {"Update": {"IndexName": "index", "ProvisionedThroughput": units(1, 1)}}
    expect(
        "ValidationException",
        INVALID + "ProvisionedThroughput should not be specified for index: index when BillingMode is PAY_PER_REQUEST",
        lambda: engine.call("UpdateTable", TableName="on-demand", GlobalSecondaryIndexUpdates=[update]),
    )


def test_a_new_table_or_index_cannot_be_limited_to_nothing(engine: Engine) -> None:
    nothing = {"MaxReadRequestUnits": 0}
    message = INVALID + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"
    expect("ValidationException", message, lambda: engine.create_table("limited", OnDemandThroughput=nothing))
    expect("ValidationException", message, lambda: on_demand_table_with_index(engine, OnDemandThroughput=nothing))


def test_warm_throughput_starts_at_what_a_table_has_without_asking(engine: Engine) -> None:
    requested = INVALID + "Requested WriteUnitsPerSecond for WarmThroughput for table is lower than "

    def warm(name: str, units: int) -> Any:
        return engine.call("UpdateTable", TableName=name, WarmThroughput={"WriteUnitsPerSecond": units})

    message = requested + "WriteCapacityUnits of ProvisionedThroughput"
    expect("ValidationException", message, lambda: warm("table", 99))
    warm("table", 100)
    engine.create_table("on-demand")
    message = requested + "current WarmThroughput, decreasing WarmThroughput is not supported"
    expect("ValidationException", message, lambda: warm("on-demand", 3999))
    warm("on-demand", 4000)


def test_the_table_class_changes_twice_in_thirty_days(engine: Engine) -> None:
    engine.call("UpdateTable", TableName="table", TableClass="STANDARD_INFREQUENT_ACCESS")
    engine.call("UpdateTable", TableName="table", TableClass="STANDARD")
    limited = "Subscriber limit exceeded: Updates to TableClass are limited to 2 times in 30 day(s)."
    again = {"TableName": "table", "TableClass": "STANDARD_INFREQUENT_ACCESS"}
    expect("LimitExceededException", limited, lambda: engine.call("UpdateTable", **again))
    engine.clock.advance(30 * 24 * HOUR)
    engine.call("UpdateTable", **again)


def test_maxima_of_on_demand_end_with_it() -> None:
    engine = Engine()
    engine.create_table(OnDemandThroughput={"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20})
    engine.call("UpdateTable", TableName="table", BillingMode="PROVISIONED", ProvisionedThroughput=units(3, 4))
    assert "OnDemandThroughput" not in engine.call("DescribeTable", TableName="table")["Table"]
