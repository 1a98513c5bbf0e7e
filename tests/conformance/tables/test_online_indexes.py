"""Global secondary indexes that come to a table in use, and go again."""

import threading
import time

import pytest

from conformance.support.expect import invalid, not_found, refuses
from conformance.support.tables import all_items, definitions, parse_key, parse_projection, values, wire

INVALID = "One or more parameter values were invalid: "


def create_index(table, name, key, projection="ALL", **extra):
    schema, types = parse_key(key)
    index = {"IndexName": name, "KeySchema": schema, "Projection": parse_projection(projection)}
    return table.update_table(
        AttributeDefinitions=definitions(types), GlobalSecondaryIndexUpdates=[{"Create": {**index, **extra}}]
    )["TableDescription"]


def delete_index(table, name):
    return table.update_table(GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": name}}])["TableDescription"]


def indexes(table):
    return {index["IndexName"]: index for index in table.describe_table()["Table"].get("GlobalSecondaryIndexes", [])}


def wait_until(done, seconds=20):
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_active(table, name):
    wait_until(lambda: indexes(table)[name]["IndexStatus"] == "ACTIVE")


def test_a_new_index_is_announced_filled_and_then_active(hash_table):
    hash_table.fill([{"pk": str(number), "g": number % 3} for number in range(30)])
    answer = create_index(hash_table, "by-g", "g:N")
    assert answer["TableStatus"] == "UPDATING"
    [index] = answer["GlobalSecondaryIndexes"]
    assert index["IndexStatus"] == "CREATING"
    assert index["Backfilling"] is False
    wait_active(hash_table, "by-g")
    description = indexes(hash_table)["by-g"]
    assert "Backfilling" not in description
    assert description["ItemCount"] == 30
    found = all_items(
        hash_table.query,
        IndexName="by-g",
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues=values(g=1),
    )
    assert sorted(int(item["pk"]["S"]) for item in found) == list(range(1, 30, 3))


def test_items_without_a_usable_key_are_left_out_and_later_refused(hash_table):
    hash_table.fill(
        [{"pk": "right", "g": "x"}, {"pk": "wrong type", "g": 1}, {"pk": "none"}, {"pk": "long", "g": "x" * 2049}]
    )
    hash_table.put_item(Item=wire(pk="empty", g=""))
    create_index(hash_table, "by-g", "g")
    wait_active(hash_table, "by-g")
    assert hash_table.scan(IndexName="by-g")["Items"] == [wire(pk="right", g="x")]
    with invalid(INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: by-g"):
        hash_table.put_item(Item=wire(pk="wrong type", g=1))
    hash_table.delete_item(Key=wire(pk="wrong type"))
    hash_table.put_item(Item=wire(pk="empty", g="now usable"))
    assert hash_table.scan(IndexName="by-g")["Count"] == 2


def test_writes_during_the_filling_are_neither_lost_nor_doubled(hash_table):
    hash_table.fill([{"pk": f"old{number}", "g": "x", "n": 0} for number in range(800)])
    stop, written = threading.Event(), []

    def write():
        number = 0
        while not stop.is_set():
            hash_table.put_item(Item=wire(pk=f"new{number}", g="x", n=number))
            hash_table.put_item(Item=wire(pk=f"old{number % 800}", g="y" if number % 2 else "x", n=number))
            hash_table.delete_item(Key=wire(pk=f"old{(number * 7 + 3) % 800}"))
            written.append(number)
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        create_index(hash_table, "by-g", "g / n:N")
        wait_active(hash_table, "by-g")
    finally:
        stop.set()
        writer.join()
    assert written

    def by_key(items):
        return sorted(items, key=lambda item: item["pk"]["S"])

    expected = by_key(all_items(hash_table.scan))
    assert by_key(all_items(hash_table.scan, IndexName="by-g")) == expected
    assert indexes(hash_table)["by-g"]["ItemCount"] == len(expected)


def test_a_deleted_index_cannot_be_read_and_may_come_again(make_table):
    table = make_table("pk", global_={"gsi": "g"})
    table.fill([{"pk": str(number), "g": "x"} for number in range(50)])
    answer = delete_index(table, "gsi")
    assert answer["GlobalSecondaryIndexes"][0]["IndexStatus"] == "DELETING"
    wait_until(lambda: not indexes(table))
    description = table.describe_table()["Table"]
    assert description["AttributeDefinitions"] == definitions({"pk": "S"})
    with invalid("The table does not have the specified index: gsi"):
        table.scan(IndexName="gsi")
    table.put_item(Item=wire(pk="0", g=1))
    create_index(table, "gsi", "g:N")
    wait_active(table, "gsi")
    assert table.scan(IndexName="gsi")["Items"] == [wire(pk="0", g=1)]


def test_one_index_is_created_at_a_time(table):
    schema, types = parse_key("g")
    create = {"KeySchema": schema, "Projection": {"ProjectionType": "ALL"}}
    with refuses(
        "LimitExceededException",
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
    ):
        table.update_table(
            AttributeDefinitions=definitions(types),
            GlobalSecondaryIndexUpdates=[
                {"Create": {"IndexName": "one", **create}},
                {"Create": {"IndexName": "two", **create}},
            ],
        )


@pytest.fixture
def indexed(make_table):
    return make_table("pk / sk", local={"lsi": "pk / l"}, global_={"gsi": "g"})


def test_an_index_that_exists_cannot_be_created(indexed):
    with invalid("Attempting to create an index which already exists"):
        create_index(indexed, "gsi", "g")


def test_an_attribute_keeps_its_type(indexed):
    with invalid(
        INVALID + "Attributes cannot be redefined. Please check that your attribute has the same type as previously "
        "defined. Existing schema: Schema:[SchemaElement: key{pk:S:HASH,sk:S:RANGE}] "
        "New schema: Schema:[SchemaElement: key{pk:N:HASH,sk:S:RANGE}]"
    ):
        create_index(indexed, "other", "pk:N")


def test_a_new_index_needs_the_types_of_its_key(indexed):
    schema, _ = parse_key("other")
    create = {"IndexName": "new", "KeySchema": schema, "Projection": {"ProjectionType": "ALL"}}
    with invalid(INVALID + "AttributeDefinitions is not specified for index: new"):
        indexed.update_table(GlobalSecondaryIndexUpdates=[{"Create": create}])


def test_only_global_indexes_can_be_deleted(indexed):
    with invalid("Cannot delete an index that is not a GlobalSecondaryIndex: lsi"):
        delete_index(indexed, "lsi")
    with not_found(f"Requested resource not found: Index none for table {indexed.name}"):
        delete_index(indexed, "none")
