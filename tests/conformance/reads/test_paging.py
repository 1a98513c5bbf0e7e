"""Pages: Limit, one megabyte, LastEvaluatedKey and ExclusiveStartKey."""

import pytest

from conformance.support.expect import error_of, invalid
from conformance.support.tables import all_items, pages, values, wire

BOUNDARIES = "The provided starting key is outside query boundaries based on provided conditions"
INVALID_START = "The provided starting key is invalid"


@pytest.fixture(scope="module")
def filled(create_table):
    """Seven partitions of ten items; every item is in the global index `gsi`, under one of two keys."""
    table = create_table("pk / sk:N", local={"lsi": ("pk / l", "KEYS_ONLY")}, global_={"gsi": ("g / l", "KEYS_ONLY")})
    table.fill(
        {"pk": f"p{partition}", "sk": sort, "l": f"l{9 - sort}", "g": f"g{sort % 2}", "v": "x" * sort}
        for partition in range(7)
        for sort in range(10)
    )
    yield table
    table.delete_table()


QUERY = {"KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": values(pk="p3")}
QUERY_GSI = {"IndexName": "gsi", "KeyConditionExpression": "g = :g", "ExpressionAttributeValues": values(g="g1")}
READS = {
    "query": ("query", QUERY, 10),
    "query backwards": ("query", {**QUERY, "ScanIndexForward": False}, 10),
    "query of a local index": ("query", {**QUERY, "IndexName": "lsi"}, 10),
    "query of a global index": ("query", QUERY_GSI, 35),
    "query of a global index backwards": ("query", {**QUERY_GSI, "ScanIndexForward": False}, 35),
    "scan": ("scan", {}, 70),
    "scan of a local index": ("scan", {"IndexName": "lsi"}, 70),
    "scan of a global index": ("scan", {"IndexName": "gsi"}, 70),
}


@pytest.mark.parametrize("limit", [1, 3, 10, 35, 70, 71])
@pytest.mark.parametrize("case", READS)
def test_pages_of_any_size_together_are_the_whole(filled, case, limit):
    operation, request, count = READS[case]
    call = getattr(filled, operation)
    whole = call(**request)["Items"]
    assert len(whole) == count
    found = []
    for page in pages(call, **request, Limit=limit):
        assert page["Count"] == page["ScannedCount"] == len(page["Items"]) <= limit
        found += page["Items"]
    assert found == whole


def test_a_limit_that_is_reached_with_the_last_item_still_gives_a_key(filled):
    first = filled.query(**QUERY, Limit=10)
    assert first["Count"] == 10
    assert first["LastEvaluatedKey"] == wire(pk="p3", sk=9)
    second = filled.query(**QUERY, Limit=10, ExclusiveStartKey=first["LastEvaluatedKey"])
    assert second["Items"] == []
    assert "LastEvaluatedKey" not in second
    assert "LastEvaluatedKey" not in filled.query(**QUERY, Limit=11)


def test_the_last_key_of_an_index_names_the_index_and_the_table_key(filled):
    assert filled.query(**QUERY, IndexName="lsi", Limit=1)["LastEvaluatedKey"] == wire(pk="p3", sk=9, l="l0")
    last = filled.query(**QUERY_GSI, Limit=1)["LastEvaluatedKey"]
    assert set(last) == {"pk", "sk", "g", "l"}


def test_a_start_key_is_a_position_and_its_item_need_not_exist(filled):
    found = filled.query(**QUERY, ExclusiveStartKey={"pk": {"S": "p3"}, "sk": {"N": "4.5"}})["Items"]
    assert [item["sk"]["N"] for item in found] == ["5", "6", "7", "8", "9"]
    found = filled.query(**QUERY, ExclusiveStartKey={"pk": {"S": "p3"}, "sk": {"N": "4.5"}}, ScanIndexForward=False)
    assert [item["sk"]["N"] for item in found["Items"]] == ["4", "3", "2", "1", "0"]


def test_the_limit_counts_what_is_evaluated_not_what_the_filter_lets_through(filled):
    page = filled.query(
        KeyConditionExpression="pk = :pk",
        FilterExpression="size(v) > :n",
        ExpressionAttributeValues=values(pk="p3", n=6),
        Limit=5,
    )
    assert (page["Count"], page["ScannedCount"], page["Items"]) == (0, 5, [])
    assert page["LastEvaluatedKey"] == wire(pk="p3", sk=4)
    assert (
        len(all_items(filled.scan, FilterExpression="size(v) > :n", ExpressionAttributeValues=values(n=6), Limit=9))
        == 21
    )


def test_a_page_ends_after_the_item_that_crosses_one_megabyte(table):
    size = 300_000
    table.fill([{"pk": "a", "sk": str(number), "v": "x" * size} for number in range(9)])
    request = {"KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": values(pk="a")}
    assert [page["Count"] for page in pages(table.query, **request)] == [4, 4, 1]
    assert [page["Count"] for page in pages(table.scan)] == [4, 4, 1]
    counted = list(pages(table.query, **request, Select="COUNT"))
    assert [page["Count"] for page in counted] == [4, 4, 1]
    nothing = {**request, "FilterExpression": "v = :pk"}
    assert [page["ScannedCount"] for page in pages(table.query, **nothing)] == [4, 4, 1]
    projected = {**request, "ProjectionExpression": "sk"}
    assert [page["Count"] for page in pages(table.query, **projected)] == [4, 4, 1]


def test_a_megabyte_that_ends_with_the_data_gives_no_key(table):
    table.fill([{"pk": "a", "sk": str(number), "v": "x" * 300_000} for number in range(4)])
    assert "LastEvaluatedKey" not in table.scan()


WRONG_STARTS = {
    "query: no sort key": ("query", QUERY, wire(pk="p3"), INVALID_START),
    "query: wrong type": ("query", QUERY, wire(pk="p3", sk="1"), INVALID_START),
    "query: too many attributes": ("query", QUERY, wire(pk="p3", sk=1, x=1), INVALID_START),
    "query: another partition": ("query", QUERY, wire(pk="p4", sk=1), BOUNDARIES),
    "query: outside the range": (
        "query",
        {
            "KeyConditionExpression": "pk = :pk AND sk > :sk",
            "ExpressionAttributeValues": values(pk="p3", sk=5),
        },
        wire(pk="p3", sk=1),
        "The provided starting key does not match the range key predicate",
    ),
    "query: one item only": (
        "query",
        {
            "KeyConditionExpression": "pk = :pk AND sk = :sk",
            "ExpressionAttributeValues": values(pk="p3", sk=5),
        },
        wire(pk="p3", sk=5),
        "The query can return at most one row and cannot be restarted",
    ),
    "query of an index: table key only": ("query", QUERY_GSI, wire(pk="p3", sk=1), INVALID_START),
    "query of an index: another partition": ("query", QUERY_GSI, wire(pk="p3", sk=1, g="g0", l="l0"), BOUNDARIES),
    "scan: wrong type": (
        "scan",
        {},
        wire(pk="p3", sk="1"),
        INVALID_START + ": The provided key element does not match the schema",
    ),
    "scan of an index: table key only": ("scan", {"IndexName": "gsi"}, wire(pk="p3", sk=1), INVALID_START),
    "an empty value": (
        "scan",
        {},
        {"pk": {}, "sk": {"N": "1"}},
        INVALID_START + ": Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
    ),
    "not a number": (
        "scan",
        {},
        {"pk": {"S": "a"}, "sk": {"N": "x"}},
        "The parameter cannot be converted to a numeric value: x",
    ),
}


@pytest.mark.parametrize("case", WRONG_STARTS)
def test_a_start_key_must_lie_in_what_is_read(filled, case):
    operation, request, start, message = WRONG_STARTS[case]
    refused = ("ValidationException", message)
    assert error_of(getattr(filled, operation), **request, ExclusiveStartKey=start) == refused


def test_a_query_of_a_table_without_sort_key_cannot_be_resumed(hash_table):
    with invalid("The provided exclusive start key is invalid: ExclusiveStartKey: {pk=AttributeValue: {S:a}}"):
        hash_table.query(
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues=values(pk="a"),
            ExclusiveStartKey=wire(pk="a"),
        )


def test_the_paginators_of_boto3_reach_the_end(filled, client):
    paginator = client.get_paginator("scan")
    found = [
        item
        for page in paginator.paginate(TableName=filled.name, PaginationConfig={"PageSize": 9})
        for item in page["Items"]
    ]
    assert len(found) == 70
