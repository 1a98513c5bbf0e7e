"""Reading secondary indexes: sparse, projected, fetched; Select and filters."""

import pytest

from conformance.support.expect import enveloped, error_of, invalid
from conformance.support.tables import values, wire

INVALID = "One or more parameter values were invalid: "


@pytest.fixture(scope="module")
def filled(create_table):
    table = create_table(
        "pk / sk",
        local={"keys-only": ("pk / l:N", "KEYS_ONLY"), "some": ("pk / l:N", ["a"])},
        global_={
            "everything": "g / l:N",
            "keys": ("g", "KEYS_ONLY"),
            "include": ("g / sk", ["a"]),
            "swapped": "sk / pk",
        },
    )
    table.fill(
        [
            {"pk": "p", "sk": "1", "l": 3, "g": "x", "a": "A1", "b": "B1"},
            {"pk": "p", "sk": "2", "l": 1, "g": "x", "a": "A2", "b": "B2"},
            {"pk": "p", "sk": "3", "l": 2, "b": "B3"},
            {"pk": "p", "sk": "4", "g": "x", "a": "A4"},
            {"pk": "q", "sk": "1", "l": 1, "g": "y", "b": "B5"},
        ]
    )
    yield table
    table.delete_table()


def query(table, index, name, value, **request):
    return table.query(
        IndexName=index, KeyConditionExpression=f"{name} = :v", ExpressionAttributeValues=values(v=value), **request
    )


def sort_keys(page):
    return [item["sk"]["S"] for item in page["Items"]]


def test_an_index_holds_only_items_with_all_of_its_key(filled):
    assert sort_keys(query(filled, "some", "pk", "p")) == ["2", "3", "1"]
    assert sort_keys(query(filled, "everything", "g", "x")) == ["2", "1"]
    assert sorted(sort_keys(query(filled, "keys", "g", "x"))) == ["1", "2", "4"]
    assert filled.scan(IndexName="everything")["Count"] == 3


def test_an_index_may_turn_the_key_around(filled):
    found = query(filled, "swapped", "sk", "1")["Items"]
    assert [item["pk"]["S"] for item in found] == ["p", "q"]


def test_an_index_shows_what_it_projects(filled):
    assert query(filled, "keys-only", "pk", "q")["Items"] == [wire(pk="q", sk="1", l=1)]
    assert query(filled, "some", "pk", "p")["Items"][0] == wire(pk="p", sk="2", l=1, a="A2")
    assert query(filled, "include", "g", "x")["Items"][2] == wire(pk="p", sk="4", g="x", a="A4")
    assert query(filled, "everything", "g", "y")["Items"] == [wire(pk="q", sk="1", l=1, g="y", b="B5")]
    assert {frozenset(item) for item in filled.scan(IndexName="keys")["Items"]} == {frozenset(("pk", "sk", "g"))}


def test_a_local_index_fetches_what_it_lacks(filled):
    whole = query(filled, "keys-only", "pk", "p", Select="ALL_ATTRIBUTES")["Items"]
    assert whole[0] == wire(pk="p", sk="2", l=1, g="x", a="A2", b="B2")
    part = query(filled, "keys-only", "pk", "p", ProjectionExpression="b")["Items"]
    assert part == [wire(b="B2"), wire(b="B3"), wire(b="B1")]


def test_a_local_index_may_be_read_consistently(filled):
    assert query(filled, "some", "pk", "p", ConsistentRead=True)["Count"] == 3


def test_a_count_has_no_items(filled):
    answer = query(filled, "some", "pk", "p", Select="COUNT")
    assert (answer["Count"], answer["ScannedCount"]) == (3, 3)
    assert "Items" not in answer
    assert filled.scan(Select="COUNT", FilterExpression="attribute_exists(b)")["Count"] == 4


SELECT_REFUSED = {
    "SPECIFIC_ATTRIBUTES": (
        {},
        "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
    ),
    "ALL_ATTRIBUTES": (
        {"ProjectionExpression": "a"},
        "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
    ),
    "COUNT": (
        {"ProjectionExpression": "a"},
        "Cannot specify the ProjectionExpression when choosing to get COUNT",
    ),
    "ALL_PROJECTED_ATTRIBUTES": ({}, "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"),
}


@pytest.mark.parametrize("select", SELECT_REFUSED)
def test_select_has_rules(filled, select):
    request, message = SELECT_REFUSED[select]
    with enveloped(message):
        filled.query(
            KeyConditionExpression="pk = :v", ExpressionAttributeValues=values(v="p"), Select=select, **request
        )
    with enveloped(message):
        filled.scan(Select=select, **request)


REFUSED = {
    "no such index": ({"IndexName": "none"}, "The table does not have the specified index: none"),
    "consistent": (
        {"IndexName": "keys", "ConsistentRead": True},
        "Consistent reads are not supported on global secondary indexes",
    ),
    "not projected": (
        {"IndexName": "include", "ProjectionExpression": "a, b, c"},
        INVALID + "Global secondary index include does not project [b, c]",
    ),
    "everything of a part": (
        {"IndexName": "keys", "Select": "ALL_ATTRIBUTES"},
        INVALID + "Select type ALL_ATTRIBUTES is not supported for global secondary index keys "
        "because its projection type is not ALL",
    ),
    "a filter on what a global index lacks": (
        {"IndexName": "keys", "FilterExpression": "a = :v"},
        INVALID + "Secondary index keys does not project one or more filter attributes: [a]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_index_gives_no_more_than_it_has(filled, case):
    request, message = REFUSED[case]
    refused = ("ValidationException", message)
    condition = {"KeyConditionExpression": "g = :v", "ExpressionAttributeValues": values(v="x")}
    assert error_of(filled.query, **condition, **request) == refused


def test_a_filter_on_what_a_local_index_lacks_is_refused(filled):
    with invalid(INVALID + "Secondary index keys-only does not project one or more filter attributes: [b]"):
        query(filled, "keys-only", "pk", "p", FilterExpression="b = :v")


def test_a_scan_of_an_index_may_filter_on_what_it_lacks_and_finds_nothing(filled):
    request = {"FilterExpression": "b = :v", "ExpressionAttributeValues": values(v="B1")}
    assert filled.scan(IndexName="keys", **request)["Count"] == 0
    assert filled.scan(IndexName="everything", **request)["Count"] == 1


def test_a_query_does_not_filter_on_its_own_key(filled):
    message = "Filter Expression can only contain non-primary key attributes: Primary key attribute: {}"
    with invalid(message.format("sk")):
        filled.query(
            KeyConditionExpression="pk = :v", FilterExpression="sk = :v", ExpressionAttributeValues=values(v="p")
        )
    with invalid(message.format("l")):
        query(filled, "everything", "g", "x", FilterExpression="attribute_exists(l)")
    assert query(filled, "everything", "g", "x", FilterExpression="begins_with(pk, :v)")["Count"] == 0
    scanned = filled.scan(FilterExpression="sk = :v", ExpressionAttributeValues=values(v="1"))
    assert (scanned["Count"], scanned["ScannedCount"]) == (2, 5)


def test_an_index_follows_every_write(make_table):
    table = make_table("pk", global_={"gsi": ("g", ["a"])})

    def shown():
        return sorted(table.scan(IndexName="gsi")["Items"], key=lambda item: item["pk"]["S"])

    table.put_item(Item=wire(pk="1", g="x", a=1, b=1))
    assert shown() == [wire(pk="1", g="x", a=1)]
    update = {"Key": wire(pk="1"), "UpdateExpression": "SET g = :g, a = :a"}
    table.update_item(**update, ExpressionAttributeValues=values(g="y", a=2))
    assert shown() == [wire(pk="1", g="y", a=2)]
    table.update_item(Key=wire(pk="1"), UpdateExpression="REMOVE g")
    assert shown() == []
    table.fill([{"pk": "1", "g": "z"}, {"pk": "2", "g": "z"}])
    assert shown() == [wire(pk="1", g="z"), wire(pk="2", g="z")]
    table.client.transact_write_items(TransactItems=[{"Delete": {"TableName": table.name, "Key": wire(pk="1")}}])
    assert shown() == [wire(pk="2", g="z")]
    table.delete_item(Key=wire(pk="2"))
    assert shown() == []
