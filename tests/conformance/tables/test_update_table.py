"""UpdateTable: throughput, billing mode, class and protection. Indexes have a file of their own."""

import pytest

from conformance.support.expect import error_of, invalid, refuses
from conformance.support.tables import unique_name

INVALID = "One or more parameter values were invalid: "


def units(read, write):
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def without_dates(throughput):
    return {name: value for name, value in throughput.items() if not name.endswith("DateTime")}


@pytest.fixture
def provisioned(make_table):
    return make_table("pk", BillingMode="PROVISIONED", ProvisionedThroughput=units(5, 5))


def wait(table):
    table.client.get_waiter("table_exists").wait(TableName=table.name)
    return table.describe_table()["Table"]


def test_the_answer_to_a_throughput_change_shows_the_old_values(provisioned):
    answer = provisioned.update_table(ProvisionedThroughput=units(7, 8))["TableDescription"]
    assert answer["TableStatus"] == "UPDATING"
    assert without_dates(answer["ProvisionedThroughput"]) == {"NumberOfDecreasesToday": 0, **units(5, 5)}
    changed = wait(provisioned)
    assert changed["TableStatus"] == "ACTIVE"
    assert without_dates(changed["ProvisionedThroughput"]) == {"NumberOfDecreasesToday": 0, **units(7, 8)}
    assert "LastIncreaseDateTime" in changed["ProvisionedThroughput"]


def test_throughput_that_does_not_change_is_refused(provisioned):
    with invalid(
        "The provisioned throughput for the table will not change. The requested value equals the current value. "
        "Current ReadCapacityUnits provisioned for the table: 5. Requested ReadCapacityUnits: 5. "
        "Current WriteCapacityUnits provisioned for the table: 5. Requested WriteCapacityUnits: 5. "
        "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
    ):
        provisioned.update_table(ProvisionedThroughput=units(5, 5))


def test_four_decreases_a_day_are_free(provisioned):
    for number, read in enumerate((4, 3, 2, 1), start=1):
        provisioned.update_table(ProvisionedThroughput=units(read, 5))
        assert wait(provisioned)["ProvisionedThroughput"]["NumberOfDecreasesToday"] == number
    code, message = error_of(provisioned.update_table, ProvisionedThroughput=units(1, 4))
    assert code == "LimitExceededException"
    assert message.startswith(
        "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day. After the "
        "first 4 decreases, each subsequent decrease in the same UTC day can be performed at most once every "
        "3600 seconds. Number of decreases today: 4. Last decrease at "
    )
    provisioned.update_table(ProvisionedThroughput=units(9, 9))


def test_a_table_becomes_on_demand_and_provisioned_again(make_table):
    table = make_table("pk", global_={"gsi": "g"})
    index = {"IndexName": "gsi", "ProvisionedThroughput": units(3, 4)}
    with invalid(INVALID + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"):
        table.update_table(BillingMode="PROVISIONED")
    with invalid(INVALID + "ProvisionedThroughput must be specified for index: gsi"):
        table.update_table(BillingMode="PROVISIONED", ProvisionedThroughput=units(1, 2))
    table.update_table(
        BillingMode="PROVISIONED",
        ProvisionedThroughput=units(1, 2),
        GlobalSecondaryIndexUpdates=[{"Update": index}],
    )
    description = wait(table)
    assert without_dates(description["ProvisionedThroughput"]) == {"NumberOfDecreasesToday": 0, **units(1, 2)}
    [gsi] = description["GlobalSecondaryIndexes"]
    assert without_dates(gsi["ProvisionedThroughput"]) == {"NumberOfDecreasesToday": 0, **units(3, 4)}
    assert description["BillingModeSummary"]["BillingMode"] == "PROVISIONED"

    table.update_table(BillingMode="PAY_PER_REQUEST")
    description = wait(table)
    assert description["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert without_dates(description["ProvisionedThroughput"]) == {"NumberOfDecreasesToday": 0, **units(0, 0)}


def test_throughput_of_an_on_demand_table_is_refused(table):
    with invalid(
        INVALID
        + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
    ):
        table.update_table(ProvisionedThroughput=units(1, 1))


def test_the_class_of_a_table_changes_twice_in_thirty_days(table):
    table.update_table(TableClass="STANDARD_INFREQUENT_ACCESS")
    assert wait(table)["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    table.update_table(TableClass="STANDARD")
    assert wait(table)["TableClassSummary"]["TableClass"] == "STANDARD"
    with refuses(
        "LimitExceededException",
        "Subscriber limit exceeded: Updates to TableClass are limited to 2 times in 30 day(s).",
    ):
        table.update_table(TableClass="STANDARD_INFREQUENT_ACCESS")


def test_on_demand_limits_are_set_and_removed(table):
    table.update_table(OnDemandThroughput={"MaxReadRequestUnits": 5, "MaxWriteRequestUnits": 6})
    assert wait(table)["OnDemandThroughput"] == {"MaxReadRequestUnits": 5, "MaxWriteRequestUnits": 6}
    table.update_table(OnDemandThroughput={"MaxReadRequestUnits": -1})
    assert wait(table)["OnDemandThroughput"] == {"MaxWriteRequestUnits": 6}
    table.update_table(OnDemandThroughput={"MaxWriteRequestUnits": -1})
    assert "OnDemandThroughput" not in wait(table)
    with invalid(INVALID + "Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of valid range"):
        table.update_table(OnDemandThroughput={"MaxWriteRequestUnits": 0})


def test_warm_throughput_can_only_rise(table):
    table.update_table(WarmThroughput={"ReadUnitsPerSecond": 20000, "WriteUnitsPerSecond": 5000})
    assert wait(table)["WarmThroughput"]["ReadUnitsPerSecond"] == 20000
    with invalid(
        INVALID + "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current WarmThroughput, "
        "decreasing WarmThroughput is not supported"
    ):
        table.update_table(WarmThroughput={"ReadUnitsPerSecond": 19999, "WriteUnitsPerSecond": 5000})


COMBINATIONS = {
    "nothing": (
        {},
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, "
        "SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, "
        "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required",
    ),
    "warm throughput with another change": (
        {"WarmThroughput": {"ReadUnitsPerSecond": 20000}, "BillingMode": "PAY_PER_REQUEST"},
        INVALID + "WarmThroughput must be the only operation in the request",
    ),
    "on-demand limits with another change": (
        {
            "OnDemandThroughput": {"MaxReadRequestUnits": 5},
            "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "gsi"}}],
        },
        INVALID + "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request",
    ),
    "an index deleted with a new billing mode": (
        {"BillingMode": "PAY_PER_REQUEST", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "gsi"}}]},
        INVALID + "You cannot create or delete index while updating table IOPS",
    ),
    "an index update that says nothing": (
        {"GlobalSecondaryIndexUpdates": [{}]},
        INVALID + "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
        "GlobalSecondaryIndexUpdate.Delete must not be null",
    ),
    "an index update that says two things": (
        {
            "GlobalSecondaryIndexUpdates": [
                {
                    "Delete": {"IndexName": "gsi"},
                    "Update": {"IndexName": "gsi", "ProvisionedThroughput": units(1, 1)},
                }
            ]
        },
        INVALID + "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object",
    ),
    "one index twice": (
        {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "gsi"}}, {"Delete": {"IndexName": "gsi"}}]},
        INVALID + "Only one global secondary index update per index is allowed simultaneously. Index: gsi",
    ),
}


@pytest.mark.parametrize("case", COMBINATIONS)
def test_changes_that_do_not_go_together_are_refused(client, case):
    request, message = COMBINATIONS[case]
    assert error_of(client.update_table, TableName="some-table", **request) == ("ValidationException", message)


def test_a_table_that_does_not_exist_cannot_be_changed(client):
    name = unique_name()
    with refuses("ResourceNotFoundException", f"Requested resource not found: Table: {name} not found"):
        client.update_table(TableName=name, DeletionProtectionEnabled=True)
