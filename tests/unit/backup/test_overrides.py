"""What a restored table keeps of its source, and what a request may change about it."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Engine, expect
from unit.backup.history import BY_OWNER, BY_PLACE, back_up, create, put, recovery, restore, restore_to, restored

INVALID = "One or more parameter values were invalid: "
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
MORE_UNITS = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 8}


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    create(
        engine,
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        DeletionProtectionEnabled=True,
        TableClass="STANDARD_INFREQUENT_ACCESS",
        OnDemandThroughput={"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": 100},
        Tags=[{"Key": "team", "Value": "blue"}],
    )
    put(engine, "a")
    return engine


def provisioned(engine: Engine) -> str:
    """The ARN of a backup of a table with provisioned throughput."""
    indexes = [{**BY_OWNER, "ProvisionedThroughput": UNITS}]
    create(
        engine,
        "provisioned",
        BillingMode="PROVISIONED",
        ProvisionedThroughput=UNITS,
        GlobalSecondaryIndexes=indexes,
    )
    put(engine, "a", name="provisioned")
    return back_up(engine, "provisioned")


def names(description: dict[str, Any]) -> list[str]:
    members = ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
    return [index["IndexName"] for member in members for index in description.get(member, [])]


def units(description: dict[str, Any]) -> dict[str, int]:
    return {name: description["ProvisionedThroughput"][name] for name in UNITS}


def test_keys_indexes_and_capacity_are_kept_and_the_rest_is_not(engine: Engine) -> None:
    recovery(engine)
    engine.call(
        "UpdateTimeToLive", TableName="table", TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
    )
    source = engine.call("DescribeTable", TableName="table")["Table"]
    restore_to(engine, None)
    restored(engine)
    table = engine.call("DescribeTable", TableName="restored")["Table"]
    for same in ("KeySchema", "AttributeDefinitions", "OnDemandThroughput", "ProvisionedThroughput", "ItemCount"):
        assert table[same] == source[same]
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert names(table) == ["by-place", "by-owner"]
    assert table["TableId"] != source["TableId"]
    assert not {"StreamSpecification", "LatestStreamArn", "TableClassSummary"} & set(table)
    assert table["DeletionProtectionEnabled"] is False
    ttl = engine.call("DescribeTimeToLive", TableName="restored")["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "DISABLED"}
    assert engine.call("ListTagsOfResource", ResourceArn=table["TableArn"])["Tags"] == []
    state = engine.call("DescribeContinuousBackups", TableName="restored")["ContinuousBackupsDescription"]
    assert state["PointInTimeRecoveryDescription"] == {"PointInTimeRecoveryStatus": "DISABLED"}


def test_restoring_writes_no_stream_records(engine: Engine) -> None:
    recovery(engine)
    put(engine, "b")
    with engine.store.read() as snapshot:
        before = [key for key, _ in snapshot.scan(b"l", b"m")]
    restore_to(engine, None)
    assert len(restored(engine)) == 2
    with engine.store.read() as snapshot:
        assert [key for key, _ in snapshot.scan(b"l", b"m")] == before


def test_indexes_can_be_dropped_and_renamed(engine: Engine) -> None:
    arn = back_up(engine)
    restore(engine, arn, GlobalSecondaryIndexOverride=[], LocalSecondaryIndexOverride=[])
    restored(engine)
    table = engine.call("DescribeTable", TableName="restored")["Table"]
    assert names(table) == []
    assert len(table["AttributeDefinitions"]) == 2
    renamed = {**BY_OWNER, "IndexName": "owners"}
    description = restore(engine, arn, "renamed", GlobalSecondaryIndexOverride=[renamed])
    assert names(description) == ["by-place", "owners"]
    restored(engine, "renamed")
    query = {"KeyConditionExpression": "#o = :o", "ExpressionAttributeNames": {"#o": "owner"}}
    found = engine.call(
        "Query",
        TableName="renamed",
        IndexName="owners",
        ExpressionAttributeValues={":o": {"S": "x"}},
        **query,
    )
    assert found["Count"] == 1


def test_an_index_that_the_source_does_not_have_is_refused(engine: Engine) -> None:
    arn = back_up(engine)
    other = {**BY_OWNER, "Projection": {"ProjectionType": "KEYS_ONLY"}}
    text = f"{INVALID}The index does not match any index of the source table: by-owner"
    expect("ValidationException", text, lambda: restore(engine, arn, GlobalSecondaryIndexOverride=[other]))
    twice = {"GlobalSecondaryIndexOverride": [{**BY_OWNER, "IndexName": "by-place"}]}
    expect("ValidationException", f"{INVALID}Duplicate index name: by-place", lambda: restore(engine, arn, **twice))


def test_the_billing_mode_can_be_overridden_both_ways(engine: Engine) -> None:
    on_demand, paid = back_up(engine), provisioned(engine)
    engine.run_jobs()
    description = restore(engine, paid, "one")
    assert units(description) == units(description["GlobalSecondaryIndexes"][0]) == UNITS
    engine.run_jobs()
    description = restore(engine, paid, "two", BillingModeOverride="PAY_PER_REQUEST")
    assert description["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert units(description["GlobalSecondaryIndexes"][0]) == {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
    engine.run_jobs()
    assert units(restore(engine, paid, "three", ProvisionedThroughputOverride=MORE_UNITS)) == MORE_UNITS
    index = {**BY_OWNER, "ProvisionedThroughput": UNITS}
    description = restore(
        engine,
        on_demand,
        "four",
        BillingModeOverride="PROVISIONED",
        ProvisionedThroughputOverride=MORE_UNITS,
        GlobalSecondaryIndexOverride=[index],
        LocalSecondaryIndexOverride=[BY_PLACE],
    )
    assert (units(description), units(description["GlobalSecondaryIndexes"][0])) == (MORE_UNITS, UNITS)
    assert "OnDemandThroughput" not in description
    engine.run_jobs()
    maxima = {"MaxReadRequestUnits": 7, "MaxWriteRequestUnits": 7}
    assert restore(engine, on_demand, "five", OnDemandThroughputOverride=maxima)["OnDemandThroughput"] == maxima


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"ProvisionedThroughputOverride": UNITS},
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
        ),
        (
            {"BillingModeOverride": "PROVISIONED"},
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
        ),
        (
            {"BillingModeOverride": "PROVISIONED", "ProvisionedThroughputOverride": UNITS},
            "ProvisionedThroughput is not specified for index: by-owner",
        ),
        (
            {"GlobalSecondaryIndexOverride": [{**BY_OWNER, "ProvisionedThroughput": UNITS}]},
            "ProvisionedThroughput should not be specified for index: by-owner when BillingMode is PAY_PER_REQUEST",
        ),
        (
            {
                "BillingModeOverride": "PROVISIONED",
                "ProvisionedThroughputOverride": UNITS,
                "GlobalSecondaryIndexOverride": [],
                "OnDemandThroughputOverride": {"MaxReadRequestUnits": 1},
            },
            "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED",
        ),
    ],
)
def test_overrides_that_do_not_go_together_are_refused(engine: Engine, members: dict[str, Any], message: str) -> None:
    arn = back_up(engine)
    expect("ValidationException", INVALID + message, lambda: restore(engine, arn, **members))
