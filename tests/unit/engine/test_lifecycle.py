"""Tables come, change and go, at once or after a delay."""

import pytest

from harness import Engine, expect
from hashrange.engine import catalog, keyspace
from hashrange.engine.database import DatabaseSettings

SLOW = DatabaseSettings(table_delay_micros=5_000_000)
ITEM = {"pk": {"S": "a"}, "sk": {"S": "b"}}


def status(engine: Engine) -> str:
    return engine.call("DescribeTable", TableName="table")["Table"]["TableStatus"]


def test_without_delay_a_new_table_says_creating_and_is_active_at_once() -> None:
    engine = Engine()
    assert engine.create_table()["TableStatus"] == "CREATING"
    engine.call("PutItem", TableName="table", Item=ITEM)
    assert status(engine) == "ACTIVE"


def test_with_a_delay_a_table_serves_only_when_it_is_active() -> None:
    engine = Engine(settings=SLOW)
    engine.create_table()
    assert status(engine) == "CREATING"
    missing = ("ResourceNotFoundException", "Requested resource not found")
    expect(*missing, lambda: engine.call("PutItem", TableName="table", Item=ITEM))
    engine.clock.advance(4.9)
    assert status(engine) == "CREATING"
    engine.clock.advance(0.2)
    assert status(engine) == "ACTIVE"
    engine.call("PutItem", TableName="table", Item=ITEM)


def test_a_table_being_created_or_updated_refuses_changes() -> None:
    engine = Engine(settings=SLOW)
    engine.create_table()
    in_use = "Attempt to change a resource which is still in use: "
    expect(
        "ResourceInUseException",
        in_use + "Table is being created: table",
        lambda: engine.call("DeleteTable", TableName="table"),
    )
    engine.clock.advance(6)
    engine.call("UpdateTable", TableName="table", TableClass="STANDARD")
    expect(
        "ResourceInUseException",
        in_use + "Table: table is in the process of being updated.",
        lambda: engine.call("UpdateTable", TableName="table", TableClass="STANDARD"),
    )
    expect(
        "ResourceInUseException",
        in_use + "Table: table is in the process of being updated.",
        lambda: engine.call("DeleteTable", TableName="table"),
    )


def test_an_update_shows_the_old_values_until_it_settles() -> None:
    engine = Engine(settings=SLOW)
    throughput = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    engine.create_table(BillingMode="PROVISIONED", ProvisionedThroughput=throughput)
    engine.clock.advance(6)
    more = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
    shown = engine.call("UpdateTable", TableName="table", ProvisionedThroughput=more)["TableDescription"]
    assert shown["TableStatus"] == "UPDATING"
    assert shown["ProvisionedThroughput"]["ReadCapacityUnits"] == 1
    engine.clock.advance(6)
    settled = engine.call("DescribeTable", TableName="table")["Table"]
    assert settled["TableStatus"] == "ACTIVE"
    assert settled["ProvisionedThroughput"]["WriteCapacityUnits"] == 6
    assert settled["ProvisionedThroughput"]["LastIncreaseDateTime"] > 0


def test_deletion_protection_changes_at_once_and_leaves_a_running_update_alone() -> None:
    engine = Engine(settings=SLOW)
    engine.create_table()
    engine.clock.advance(6)
    engine.call("UpdateTable", TableName="table", TableClass="STANDARD_INFREQUENT_ACCESS")
    shown = engine.call("UpdateTable", TableName="table", DeletionProtectionEnabled=True)["TableDescription"]
    assert (shown["TableStatus"], shown["DeletionProtectionEnabled"]) == ("UPDATING", True)
    engine.clock.advance(6)
    table = engine.call("DescribeTable", TableName="table")["Table"]
    assert table["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    expect(
        "ValidationException",
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.",
        lambda: engine.call("DeleteTable", TableName="table"),
    )


def test_a_deleted_table_is_listed_until_it_is_gone() -> None:
    engine = Engine(settings=SLOW)
    engine.create_table()
    engine.clock.advance(6)
    shown = engine.call("DeleteTable", TableName="table")["TableDescription"]
    assert shown["TableStatus"] == "DELETING"
    assert "KeySchema" not in shown
    assert engine.call("ListTables")["TableNames"] == ["table"]
    engine.clock.advance(6)
    assert engine.call("ListTables")["TableNames"] == []


def test_nothing_of_a_deleted_table_is_left_in_the_store() -> None:
    engine = Engine()
    engine.create_table()
    for number in range(1200):
        engine.call("PutItem", TableName="table", Item={"pk": {"S": str(number)}, "sk": {"S": "x"}})
    engine.call("DeleteTable", TableName="table")
    assert engine.run_jobs() >= 3  # a bounded piece at a time
    with engine.store.read() as snapshot:
        left = [key for key, _ in snapshot.scan(b"\0", b"\xff")]
    measured = (keyspace.METRIC, keyspace.METRICS_TRIMMED)  # what was counted of it is kept for fifteen days
    assert [key for key in left if not key.startswith(measured)] == [keyspace.LAST_TABLE_ID]


def test_a_table_made_anew_does_not_see_the_items_of_the_one_before() -> None:
    engine = Engine()
    first = engine.create_table()
    engine.call("PutItem", TableName="table", Item=ITEM)
    engine.call("DeleteTable", TableName="table")
    second = engine.create_table()
    assert first["TableArn"] == second["TableArn"]
    assert first["TableId"] != second["TableId"]
    assert engine.call("Scan", TableName="table")["Count"] == 0
    engine.run_jobs()
    assert engine.call("DescribeTable", TableName="table")["Table"]["TableId"] == second["TableId"]
    assert engine.problems() == []


def test_tables_of_other_regions_and_accounts_are_separate() -> None:
    engine = Engine()
    engine.create_table()
    assert engine.call("ListTables", region="eu-west-1")["TableNames"] == []
    assert engine.call("ListTables", key="123456789012")["TableNames"] == []
    assert engine.call("ListTables", key="ANYBODY")["TableNames"] == ["table"]
    expect(
        "ResourceNotFoundException",
        "Requested resource not found",
        lambda: engine.call("PutItem", key="123456789012", TableName="table", Item=ITEM),
    )


def test_tables_that_nobody_asks_for_again_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "ENTRIES_MAX", 3)
    engine = Engine()
    for number in range(10):
        engine.create_table(f"table{number}")
        engine.call("PutItem", TableName=f"table{number}", Item=ITEM)
        engine.call("DeleteTable", TableName=f"table{number}")
        engine.run_jobs()
    assert len(engine.db.catalog._entries) <= 3
