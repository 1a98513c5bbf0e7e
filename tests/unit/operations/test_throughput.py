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


def test_the_same_values_of_an_index_are_refused() -> None:
    engine = Engine()
    key = [{"AttributeName": "sk", "KeyType": "HASH"}]
    index = {"IndexName": "index", "KeySchema": key, "Projection": {"ProjectionType": "ALL"}}
    engine.create_table(
        BillingMode="PROVISIONED",
        ProvisionedThroughput=units(1, 1),
        GlobalSecondaryIndexes=[{**index, "ProvisionedThroughput": units(2, 2)}],
    )
    same = [{"Update": {"IndexName": "index", "ProvisionedThroughput": units(2, 2)}}]
    expect(
        "ValidationException",
        "The provisioned throughput for the index index will not change. The requested value equals the current value. "
        "Current ReadCapacityUnits provisioned for index index: 2. Requested ReadCapacityUnits: 2. "
        "Current WriteCapacityUnits provisioned for index index: 2. Requested WriteCapacityUnits: 2. "
        "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
        lambda: engine.call("UpdateTable", TableName="table", GlobalSecondaryIndexUpdates=same),
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


@pytest.mark.parametrize("units", [0, -1, -2])
def test_a_new_table_or_index_cannot_be_limited_to_nothing(engine: Engine, units: int) -> None:
    message = INVALID + "Requested MaxReadRequestUnits for OnDemandThroughput for {} is outside of valid range"
    limit = {"MaxReadRequestUnits": units}
    text = message.format("table")
    expect("ValidationException", text, lambda: engine.create_table("limited", OnDemandThroughput=limit))
    text = message.format("index : index")
    expect("ValidationException", text, lambda: on_demand_table_with_index(engine, OnDemandThroughput=limit))


def test_a_limit_is_not_above_that_of_the_account(engine: Engine) -> None:
    message = (
        "Subscriber limit exceeded: Requested MaxWriteRequestUnits for OnDemandThroughput for table exceeds "
        "TableMaxWriteCapacityUnits of the account in region us-east-1"
    )
    limit = {"MaxWriteRequestUnits": 40_001}
    expect("LimitExceededException", message, lambda: engine.create_table("limited", OnDemandThroughput=limit))


def test_a_provisioned_table_has_no_limit_on_demand(engine: Engine) -> None:
    limit = {"MaxReadRequestUnits": 1}
    message = INVALID + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is "
    new = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(1, 1), "OnDemandThroughput": limit}
    expect("ValidationException", message + "PROVISIONED.", lambda: engine.create_table("limited", **new))
    message = INVALID + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is "
    update = {"TableName": "table", "OnDemandThroughput": limit}
    expect("ValidationException", message + "PROVISIONED", lambda: engine.call("UpdateTable", **update))


def test_a_limit_is_there_at_once_and_goes_with_minus_one(engine: Engine) -> None:
    engine.create_table("on-demand", OnDemandThroughput={"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20})

    def limited(**limits: int) -> Any:
        return engine.call("UpdateTable", TableName="on-demand", OnDemandThroughput=limits)["TableDescription"]

    answer = limited(MaxReadRequestUnits=30)
    assert answer["TableStatus"] == "ACTIVE"
    assert answer["OnDemandThroughput"] == {"MaxReadRequestUnits": 30, "MaxWriteRequestUnits": 20}
    assert limited(MaxReadRequestUnits=-1)["OnDemandThroughput"] == {"MaxWriteRequestUnits": 20}
    assert "OnDemandThroughput" not in limited(MaxWriteRequestUnits=-1)


def test_a_new_table_or_index_is_at_least_as_warm_as_it_would_be_anyhow(engine: Engine) -> None:
    message = INVALID + "Requested ReadUnitsPerSecond for WarmThroughput for {} is lower than {}"
    page = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html"
    initial = f"initial throughput for OnDemand. See: {page}#on-demand-capacity-mode-initial"
    cool = {"ReadUnitsPerSecond": 11_999}
    text = message.format("table", initial)
    expect("ValidationException", text, lambda: engine.create_table("warm", WarmThroughput=cool))
    text = message.format("index index", initial)
    expect("ValidationException", text, lambda: on_demand_table_with_index(engine, WarmThroughput=cool))
    text = message.format("table", "ReadCapacityUnits of ProvisionedThroughput")
    new = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(10, 10)}
    cool = {"ReadUnitsPerSecond": 9}
    expect("ValidationException", text, lambda: engine.create_table("warm", **new, WarmThroughput=cool))


def test_what_an_update_of_an_index_on_demand_may_be_about(engine: Engine) -> None:
    on_demand_table_with_index(engine)
    name = "on-demand"

    def update(**members: Any) -> Any:
        changes = [{"Update": {"IndexName": "index", **members}}]
        return engine.call("UpdateTable", TableName=name, GlobalSecondaryIndexUpdates=changes)

    message = INVALID + (
        "The only Updates for index: index when TableThroughputMode is PAY_PER_REQUEST can be to "
        "OnDemandThroughput, WarmThroughput"
    )
    expect("ValidationException", message, update)
    expect("ValidationException", message, lambda: update(OnDemandThroughput={}))
    message = INVALID + (
        "WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for index: index"
    )
    expect("ValidationException", message, lambda: update(WarmThroughput={}))
    message = INVALID + (
        "Requested ReadUnitsPerSecond for WarmThroughput for index index is lower than current WarmThroughput, "
        "decreasing WarmThroughput is not supported"
    )
    expect("ValidationException", message, lambda: update(WarmThroughput={"ReadUnitsPerSecond": 100}))


def test_warm_throughput_starts_at_what_a_table_has_without_asking(engine: Engine) -> None:
    requested = INVALID + "Requested WriteUnitsPerSecond for WarmThroughput for table is lower than "

    def warm(name: str, units: int) -> Any:
        return engine.call("UpdateTable", TableName=name, WarmThroughput={"WriteUnitsPerSecond": units})

    message = requested + "current WarmThroughput, decreasing WarmThroughput is not supported"
    expect("ValidationException", message, lambda: warm("table", 99))
    warm("table", 100)
    engine.create_table("on-demand")
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
