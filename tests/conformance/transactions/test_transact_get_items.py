"""TransactGetItems: several items as they are at one moment."""

import threading

import pytest
from botocore.exceptions import ClientError

from conformance.support.expect import error_of, invalid, not_found
from conformance.support.tables import unique_name, values, wire


def get(table, pk, **rest):
    return {"Get": {"TableName": table.name, "Key": wire(pk=pk), **rest}}


def test_answers_come_in_the_order_of_the_questions(client, hash_table, table):
    hash_table.fill([{"pk": "a", "n": 1, "m": {"x": 2}}, {"pk": "b"}])
    table.put_item(Item=wire(pk="a", sk="b"))
    answer = client.transact_get_items(
        TransactItems=[
            get(hash_table, "b"),
            get(hash_table, "missing"),
            {"Get": {"TableName": table.name, "Key": wire(pk="a", sk="b")}},
            get(hash_table, "a", ProjectionExpression="#m.x", ExpressionAttributeNames={"#m": "m"}),
        ]
    )
    assert answer["Responses"] == [
        {"Item": wire(pk="b")},
        {},
        {"Item": wire(pk="a", sk="b")},
        {"Item": wire(m={"x": 2})},
    ]


def test_nothing_projected_is_no_item(client, hash_table):
    hash_table.put_item(Item=wire(pk="a"))
    assert client.transact_get_items(TransactItems=[get(hash_table, "a", ProjectionExpression="b")])["Responses"] == [
        {}
    ]


def test_a_key_that_does_not_match_cancels(client, hash_table):
    wrong = {"Get": {"TableName": hash_table.name, "Key": wire(pk=1)}}
    with pytest.raises(ClientError) as caught:
        client.transact_get_items(TransactItems=[get(hash_table, "a"), wrong])
    assert caught.value.response["Error"]["Message"] == (
        "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ValidationError]"
    )
    assert caught.value.response["CancellationReasons"] == [
        {"Code": "None"},
        {"Code": "ValidationError", "Message": "The provided key element does not match the schema"},
    ]


def test_an_item_may_be_asked_for_once(client, hash_table):
    with invalid("Transaction request cannot include multiple operations on one item"):
        client.transact_get_items(TransactItems=[get(hash_table, "a"), get(hash_table, "a")])


def test_a_missing_table_is_told_so(client):
    with not_found():
        client.transact_get_items(TransactItems=[{"Get": {"TableName": unique_name(), "Key": wire(pk="a")}}])


def test_four_megabytes_are_enough(client, hash_table):
    for number in range(11):
        hash_table.put_item(Item=wire(pk=str(number), v="x" * 400_000))
    gets = [get(hash_table, str(number), ProjectionExpression="pk") for number in range(11)]
    assert len(client.transact_get_items(TransactItems=gets[:10])["Responses"]) == 10
    code, message = error_of(client.transact_get_items, TransactItems=gets)
    assert code == "ValidationException"
    assert "size cannot exceed" in message


def test_a_transaction_is_never_seen_half_done(client, hash_table):
    names = ["a", "b", "c"]
    hash_table.fill([{"pk": name, "n": 0} for name in names])
    stop = threading.Event()

    def write():
        number = 0
        while not stop.is_set():
            number += 1
            actions = [
                {
                    "Update": {
                        "TableName": hash_table.name,
                        "Key": wire(pk=name),
                        "UpdateExpression": "SET n = :n",
                        "ExpressionAttributeValues": values(n=number),
                    }
                }
                for name in names
            ]
            client.transact_write_items(TransactItems=actions)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(100):
            answer = client.transact_get_items(TransactItems=[get(hash_table, name) for name in names])
            assert len({response["Item"]["n"]["N"] for response in answer["Responses"]}) == 1
    finally:
        stop.set()
        writer.join()
