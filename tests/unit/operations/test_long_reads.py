"""A page that takes long is read in parts; what comes of it is what one walk would have found."""

import pytest

from harness import Engine
from hashrange.engine import page
from hashrange.operations.reads import reading


@pytest.fixture(scope="module")
def engine():
    engine = Engine()
    engine.create_table(
        "table",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "other")],
        LocalSecondaryIndexes=[
            {
                "IndexName": "local",
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "other", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    )
    for number in range(300):
        item = {"pk": {"S": "p"}, "sk": {"S": f"{number:04}"}, "other": {"S": str(number % 7)}, "n": {"N": str(number)}}
        if number % 50 == 0:
            item["large"] = {"S": "x" * 300_000}
        engine.call("PutItem", TableName="table", Item=item)
    return engine


QUERY = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "p"}}}
LARGER = {"FilterExpression": "n > :n", "ExpressionAttributeValues": {":n": {"N": "100"}, ":p": {"S": "p"}}}
READS = {
    "a scan": ("Scan", {}),
    "a filtered scan": ("Scan", {"FilterExpression": "n > :n", "ExpressionAttributeValues": {":n": {"N": "100"}}}),
    "a projected scan": ("Scan", {"ProjectionExpression": "n"}),
    "a limited scan": ("Scan", {"Limit": 64}),
    "a count": ("Scan", {"Select": "COUNT"}),
    "a query": ("Query", QUERY),
    "a query backwards": ("Query", {**QUERY, "ScanIndexForward": False}),
    "a filtered query backwards": ("Query", {**QUERY, **LARGER, "ScanIndexForward": False}),
    "a limited query": ("Query", {**QUERY, **LARGER, "Limit": 100}),
    "an index": ("Query", {**QUERY, "IndexName": "local"}),
    "whole items through an index": ("Query", {**QUERY, "IndexName": "local", "Select": "ALL_ATTRIBUTES"}),
}


def pages(engine, operation, request):
    """Every page until there is no more."""
    found, start = [], {}
    while True:
        answer = engine.call(operation, TableName="table", ReturnConsumedCapacity="INDEXES", **request, **start)
        found.append(answer)
        if "LastEvaluatedKey" not in answer:
            return found
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


@pytest.mark.parametrize("name", READS)
def test_reading_in_parts_makes_no_difference(engine, name, monkeypatch):
    def in_parts_of(items, size_bytes):
        monkeypatch.setattr(page, "PART_ITEMS", items)
        monkeypatch.setattr(page, "PLAIN_PART_ITEMS", items)
        monkeypatch.setattr(page, "PART_BYTES", size_bytes)
        return pages(engine, *READS[name])

    whole = in_parts_of(10**9, 10**9)
    assert sum(answer["Count"] for answer in whole) > 0
    for items, size_bytes in ((1, 10**9), (7, 10**9), (64, 10**9), (10**9, 1), (64, 100_000)):
        assert in_parts_of(items, size_bytes) == whole


def test_what_is_written_while_a_page_is_read_does_not_disturb_it(monkeypatch):
    engine = Engine()
    engine.create_table("table")
    for number in range(100):
        engine.call("PutItem", TableName="table", Item={"pk": {"S": "p"}, "sk": {"S": f"{number:03}"}})
    monkeypatch.setattr(page, "PLAIN_PART_ITEMS", 10)
    read_on, removed = reading.read_on, []

    def remove_the_last_and_read_on(db, request, what, walk):
        removed.append(f"{walk.scanned - 1:03}")
        engine.call("DeleteItem", TableName="table", Key={"pk": {"S": "p"}, "sk": {"S": removed[-1]}})
        return read_on(db, request, what, walk)

    monkeypatch.setattr(reading, "read_on", remove_the_last_and_read_on)
    answer = engine.call("Query", TableName="table", **QUERY)
    assert [item["sk"]["S"] for item in answer["Items"]] == [f"{number:03}" for number in range(100)]
    assert removed[:2] == ["009", "019"]
    assert engine.call("Query", TableName="table", Select="COUNT", Limit=5, **QUERY)["Count"] == 5
