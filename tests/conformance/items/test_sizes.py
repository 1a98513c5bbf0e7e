"""Limits of items and keys, exact to the byte."""

import pytest

from conformance.support.expect import error_of, invalid
from conformance.support.tables import values, wire

MAX = 409_600
TOO_LARGE = "Item size has exceeded the maximum allowed size"
UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"
INVALID = "One or more parameter values were invalid: "
PARTITION_TOO_LONG = INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes"
SORT_TOO_LONG = INVALID + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"

# What an attribute `v` with this value adds to an item, name included.
SIZES = [
    ({"S": "x" * 10}, 11),
    ({"S": "ä🎈"}, 7),
    ({"S": ""}, 1),
    ({"B": b"12345"}, 6),
    ({"N": "0"}, 2),
    ({"N": "1E125"}, 3),
    ({"N": "3.14159"}, 6),
    ({"N": "123456"}, 5),
    ({"N": "0.0000001"}, 3),
    ({"N": "-12"}, 4),
    ({"BOOL": False}, 2),
    ({"NULL": True}, 2),
    ({"SS": ["ab", "c"]}, 4),
    ({"NS": ["1", "123"]}, 6),
    ({"BS": [b"abc", b""]}, 4),
    ({"L": []}, 4),
    ({"L": [{"S": "abc"}, {"NULL": True}]}, 1 + 3 + 4 + 2),
    ({"M": {}}, 4),
    ({"M": {"key": {"S": "abc"}}}, 1 + 3 + 1 + 3 + 3),
]


@pytest.mark.parametrize(("value", "size"), SIZES, ids=[str(value)[:30] for value, _ in SIZES])
def test_an_item_may_have_409600_bytes_and_not_one_more(hash_table, value, size):
    rest = MAX - len("pk" + "a" + "fill") - size
    item = {"pk": {"S": "a"}, "v": value, "fill": {"S": "x" * rest}}
    hash_table.put_item(Item=item)
    item["fill"] = {"S": "x" * (rest + 1)}
    with invalid(TOO_LARGE):
        hash_table.put_item(Item=item)
    assert hash_table.describe_table()["Table"]["TableSizeBytes"] == MAX


def test_an_update_counts_itself(hash_table):
    """SET takes 3 bytes for the update and 19 for the action, less the key, which the update does not write."""
    room = MAX - len("v") - 3 - 19
    update = {"Key": wire(pk="a"), "UpdateExpression": "SET v = :v"}
    hash_table.update_item(**update, ExpressionAttributeValues=values(v="x" * room))
    with invalid(UPDATE_TOO_LARGE):
        hash_table.update_item(**update, ExpressionAttributeValues=values(v="x" * (room + 1)))
    assert len(hash_table.get(pk="a")["v"]["S"]) == room


def test_an_update_in_a_transaction_counts_only_the_item(hash_table, client):
    room = MAX - len("pk" + "a" + "v")

    def update(size):
        action = {
            "TableName": hash_table.name,
            "Key": wire(pk="a"),
            "UpdateExpression": "SET v = :v",
            "ExpressionAttributeValues": values(v="x" * size),
        }
        return client.transact_write_items(TransactItems=[{"Update": action}])

    update(room)
    with pytest.raises(client.exceptions.TransactionCanceledException) as caught:
        update(room + 1)
    assert caught.value.response["CancellationReasons"] == [{"Code": "ValidationError", "Message": UPDATE_TOO_LARGE}]


@pytest.mark.parametrize("character", ["x", "ä", "🎈"])
def test_keys_are_limited_in_bytes(table, character):
    width = len(character.encode())
    longest = wire(pk=character * (2048 // width), sk=character * (1024 // width))
    table.put_item(Item={**longest, "n": {"N": "1"}})
    assert table.get_item(Key=longest)["Item"] == {**longest, "n": {"N": "1"}}
    long_pk = {**longest, "pk": {"S": longest["pk"]["S"] + "x"}}
    long_sk = {**longest, "sk": {"S": longest["sk"]["S"] + "x"}}
    for call, member in ((table.put_item, "Item"), (table.get_item, "Key"), (table.delete_item, "Key")):
        assert error_of(call, **{member: long_pk}) == ("ValidationException", PARTITION_TOO_LONG)
        assert error_of(call, **{member: long_sk}) == ("ValidationException", SORT_TOO_LONG)


def test_long_keys_that_share_a_prefix_stay_apart_and_in_order(table):
    keys = ["p" * 600 + "a", "p" * 600 + "a" * 424, "p" * 600 + "b", "p" * 1000 + "x", "p" * 1024, "p"]
    table.fill([{"pk": "k" * 2048, "sk": key} for key in keys])
    found = table.query(KeyConditionExpression="pk = :pk", ExpressionAttributeValues=values(pk="k" * 2048))["Items"]
    assert [item["sk"]["S"] for item in found] == sorted(keys)
    found = table.query(
        KeyConditionExpression="pk = :pk AND sk > :sk",
        ExpressionAttributeValues=values(pk="k" * 2048, sk="p" * 600 + "a"),
        ScanIndexForward=False,
    )["Items"]
    assert [item["sk"]["S"] for item in found] == sorted(keys)[:1:-1]


def test_binary_keys_have_the_same_limits(make_table):
    table = make_table("pk:B / sk:B")
    table.put_item(Item=wire(pk=b"\xff" * 2048, sk=b"\x00" * 1024))
    assert table.get(pk=b"\xff" * 2048, sk=b"\x00" * 1024) is not None
    with invalid(PARTITION_TOO_LONG):
        table.put_item(Item=wire(pk=b"\xff" * 2049, sk=b"\x00"))
    with invalid(SORT_TOO_LONG):
        table.put_item(Item=wire(pk=b"\xff", sk=b"\x00" * 1025))


def test_keys_of_indexes_have_the_same_limits(make_table):
    table = make_table("pk / sk", local={"lsi": "pk / l"}, global_={"gsi": "g / h"})
    table.put_item(Item=wire(pk="a", sk="b", l="x" * 1024, g="x" * 2048, h="x" * 1024))
    for name, size in (("l", 1025), ("h", 1025), ("g", 2049)):
        message = PARTITION_TOO_LONG if name == "g" else SORT_TOO_LONG
        with invalid(message):
            table.put_item(Item=wire(pk="a", sk="b", **{name: "x" * size}))
        with invalid(message):
            table.update_item(
                Key=wire(pk="a", sk="b"),
                UpdateExpression=f"SET {name} = :v",
                ExpressionAttributeValues=values(v="x" * size),
            )
