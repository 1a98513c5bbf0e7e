"""BatchWriteItem."""

import pytest

from conformance.support.expect import error_of, invalid, not_found
from conformance.support.tables import all_items, unique_name, wire

INVALID = "One or more parameter values were invalid: "


def put(**item):
    return {"PutRequest": {"Item": wire(**item)}}


def delete(**key):
    return {"DeleteRequest": {"Key": wire(**key)}}


def test_puts_and_deletions_go_to_several_tables(client, hash_table, table):
    hash_table.fill([{"pk": "old"}, {"pk": "kept"}])
    answer = client.batch_write_item(
        RequestItems={
            hash_table.name: [put(pk="new", n=1), delete(pk="old"), delete(pk="never there")],
            table.name: [put(pk="a", sk="b")],
        },
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer["UnprocessedItems"] == {}
    units = {each["TableName"]: each["CapacityUnits"] for each in answer["ConsumedCapacity"]}
    assert units == {hash_table.name: 3.0, table.name: 1.0}
    assert sorted(item["pk"]["S"] for item in hash_table.scan()["Items"]) == ["kept", "new"]
    assert table.scan()["Items"] == [wire(pk="a", sk="b")]


def test_a_put_replaces_the_whole_item(client, hash_table):
    hash_table.put_item(Item=wire(pk="a", old=1))
    client.batch_write_item(RequestItems={hash_table.name: [put(pk="a", new=1)]})
    assert hash_table.get(pk="a") == wire(pk="a", new=1)


REFUSED = {
    "a missing key": ([put(other="a")], INVALID + "Missing the key pk in the item"),
    "a key of the wrong type": ([put(pk=1)], INVALID + "Type mismatch for key pk expected: S actual: N"),
    "a key that does not match": ([delete(other="a")], "The provided key element does not match the schema"),
    "an item twice": ([put(pk="a"), delete(pk="a")], "Provided list of item keys contains duplicates"),
    "an element that says nothing": (
        [{}],
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
    ),
    "an element that says two things": (
        [{**put(pk="a"), **delete(pk="b")}],
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
    ),
    "an item that is too large": (
        [put(pk="a", v="x" * 409_600)],
        "Item size has exceeded the maximum allowed size",
    ),
    "a number that is none": (
        [{"PutRequest": {"Item": {"pk": {"S": "a"}, "n": {"N": "x"}}}}],
        "The parameter cannot be converted to a numeric value: x",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_one_wrong_element_fails_the_whole_batch_before_anything_is_written(client, hash_table, case):
    elements, message = REFUSED[case]
    requests = {hash_table.name: [put(pk="innocent"), *elements]}
    assert error_of(client.batch_write_item, RequestItems=requests) == ("ValidationException", message)
    assert hash_table.scan()["Items"] == []


def test_twenty_five_requests_are_enough(client, hash_table, table):
    many = [put(pk=str(number)) for number in range(26)]
    client.batch_write_item(RequestItems={hash_table.name: many[:25]})
    assert hash_table.scan()["Count"] == 25
    with invalid("Too many items requested for the BatchWriteItem call"):
        client.batch_write_item(RequestItems={hash_table.name: many[:20], table.name: many[20:]})


def test_numbers_are_compared_by_value(client, make_table):
    table = make_table("pk:N")
    elements = [{"PutRequest": {"Item": {"pk": {"N": text}}}} for text in ("1000", "1e3")]
    with invalid("Provided list of item keys contains duplicates"):
        client.batch_write_item(RequestItems={table.name: elements})


def test_at_least_one_table_is_named(client):
    with invalid("The requestItems parameter is required for BatchWriteItem"):
        client.batch_write_item(RequestItems={})


def test_a_missing_table_fails_the_whole_batch(client, hash_table):
    with not_found():
        client.batch_write_item(RequestItems={hash_table.name: [put(pk="a")], unique_name(): [put(pk="a")]})
    assert hash_table.scan()["Count"] == 0


def test_item_collections_are_measured(client, make_table):
    table = make_table("pk / sk", local={"lsi": "pk / l"})
    answer = client.batch_write_item(
        RequestItems={table.name: [put(pk="a", sk="b")]}, ReturnItemCollectionMetrics="SIZE"
    )
    assert answer["ItemCollectionMetrics"] == {
        table.name: [{"ItemCollectionKey": wire(pk="a"), "SizeEstimateRangeGB": [0.0, 1.0]}]
    }


def test_the_batch_writer_of_boto3_writes_everything(resource, hash_table):
    with resource.Table(hash_table.name).batch_writer(overwrite_by_pkeys=["pk"]) as batch:
        for number in range(120):
            batch.put_item(Item={"pk": str(number % 100), "n": number})
        batch.delete_item(Key={"pk": "5"})
    items = all_items(hash_table.scan)
    assert len(items) == 99
    assert hash_table.get(pk="7")["n"] == {"N": "107"}
