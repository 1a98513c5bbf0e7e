"""What tables and indexes let happen on their way from one status to the next, on a server that takes its time."""

import time
from contextlib import contextmanager

import pytest
from botocore.exceptions import ClientError

from conformance.support.expect import invalid, not_found, refuses
from conformance.support.tables import Table, definitions, parse_key, table_request, wire

DELAY_SECONDS = 0.6
IN_USE = "Attempt to change a resource which is still in use: "


@pytest.fixture(scope="module")
def slow(start_server, connect):
    """A client of a server whose tables stay CREATING, UPDATING and DELETING for a while."""
    with start_server("--table-delay-ms", str(int(DELAY_SECONDS * 1000))) as endpoint:
        yield connect(endpoint=endpoint)


@contextmanager
def quick():
    """What happens inside is over before the status changes; on a machine too busy for that nothing can be said."""
    start = time.monotonic()
    try:
        yield
    except (AssertionError, ClientError, pytest.fail.Exception):
        if time.monotonic() - start < DELAY_SECONDS:
            raise


def create(client, key="pk", **options):
    request = table_request(key, **options)
    client.create_table(**request)
    return Table(client, request["TableName"])


def wait_until(table, seen, seconds=20):
    deadline = time.monotonic() + seconds
    while not seen(table.describe_table()["Table"]):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_active(table):
    wait_until(table, lambda description: description["TableStatus"] == "ACTIVE")


def status(table):
    return table.describe_table()["Table"]["TableStatus"]


def test_a_table_being_created_is_there_but_takes_no_items(slow):
    with quick():
        table = create(slow)
        assert status(table) == "CREATING"
        with not_found():
            table.put_item(Item=wire(pk="a"))
        with not_found():
            table.get_item(Key=wire(pk="a"))
        with refuses("ResourceInUseException", f"{IN_USE}Table is being created: {table.name}"):
            table.delete_table()
        with refuses("ResourceInUseException", f"Table already exists: {table.name}"):
            slow.create_table(**{**table_request("pk"), "TableName": table.name})
    wait_active(table)
    table.put_item(Item=wire(pk="a"))


def test_a_table_being_updated_works_as_before_but_takes_no_other_change(slow):
    table = create(slow)
    wait_active(table)
    with quick():
        table.update_table(TableClass="STANDARD_INFREQUENT_ACCESS")
        assert status(table) == "UPDATING"
        table.put_item(Item=wire(pk="a"))
        assert table.get(pk="a") == wire(pk="a")
        with refuses("ResourceInUseException", f"{IN_USE}Table: {table.name} is in the process of being updated."):
            table.update_table(TableClass="STANDARD")
        protected = table.update_table(DeletionProtectionEnabled=True)["TableDescription"]
        assert protected["DeletionProtectionEnabled"] is True
    wait_active(table)
    description = table.describe_table()["Table"]
    assert description["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    assert description["DeletionProtectionEnabled"] is True


def test_a_table_being_deleted_is_still_listed_but_holds_nothing(slow):
    table = create(slow)
    wait_active(table)
    table.put_item(Item=wire(pk="a"))
    with quick():
        table.delete_table()
        assert status(table) == "DELETING"
        assert table.name in slow.list_tables()["TableNames"]
        with not_found():
            table.get_item(Key=wire(pk="a"))
        with refuses("ResourceInUseException", f"{IN_USE}Table is being deleted: {table.name}"):
            table.delete_table()
    time.sleep(DELAY_SECONDS)
    with not_found(f"Requested resource not found: Table: {table.name} not found"):
        table.describe_table()
    assert table.name not in slow.list_tables()["TableNames"]


def test_an_index_being_created_or_deleted_cannot_be_read(slow):
    table = create(slow)
    wait_active(table)
    table.fill([{"pk": str(number), "g": "x"} for number in range(10)])
    schema, types = parse_key("g")
    index = {"IndexName": "gsi", "KeySchema": schema, "Projection": {"ProjectionType": "ALL"}}
    with quick():
        table.update_table(AttributeDefinitions=definitions(types), GlobalSecondaryIndexUpdates=[{"Create": index}])
        assert status(table) == "UPDATING"
        with invalid("Cannot read from backfilling global secondary index: gsi"):
            table.scan(IndexName="gsi")
        table.put_item(Item=wire(pk="new", g="x"))
        with refuses("ResourceInUseException", f"{IN_USE}Table: {table.name} is in the process of being updated."):
            table.update_table(GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "gsi"}}])
    wait_until(table, lambda description: description["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE")
    assert table.scan(IndexName="gsi")["Count"] == 11

    with quick():
        table.update_table(GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "gsi"}}])
        assert table.describe_table()["Table"]["GlobalSecondaryIndexes"][0]["IndexStatus"] == "DELETING"
        with invalid("Cannot read from backfilling global secondary index: gsi"):
            table.scan(IndexName="gsi")
    wait_until(table, lambda description: "GlobalSecondaryIndexes" not in description)
