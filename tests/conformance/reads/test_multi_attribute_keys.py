"""Global secondary indexes whose keys have several attributes."""

import pytest

from conformance.support.expect import invalid
from conformance.support.tables import all_items, pages, table_request, values, wire

INVALID = "One or more parameter values were invalid: "
KEY = "tournament area:N / round kind:N game"


@pytest.fixture(scope="module")
def filled(create_table):
    table = create_table("pk", global_={"gsi": KEY})
    items = [
        {"pk": f"{number}", "tournament": "T", "area": 1, "round": r, "kind": kind, "game": game}
        for number, (r, kind, game) in enumerate(
            (r, kind, game) for r in ("final", "semi") for kind in (2, 10) for game in ("a", "ab", "b")
        )
    ]
    items += [
        {"pk": "other", "tournament": "T", "area": 2, "round": "final", "kind": 2, "game": "a"},
        {"pk": "no area", "tournament": "T", "round": "final", "kind": 2, "game": "a"},
        {"pk": "no game", "tournament": "T", "area": 1, "round": "final", "kind": 2},
    ]
    table.fill(items)
    yield table
    table.delete_table()


def query(condition="", **given):
    key = "area = :r AND tournament = :t"
    return {
        "IndexName": "gsi",
        "KeyConditionExpression": f"{key} AND {condition}" if condition else key,
        "ExpressionAttributeValues": values(t="T", r=1, **given),
    }


def keys(items):
    return [int(item["pk"]["S"]) for item in items]


SELECTED = {
    "": ({}, range(12)),
    "round = :a": ({"a": "semi"}, range(6, 12)),
    "round = :a AND kind = :b": ({"a": "final", "b": 10}, range(3, 6)),
    "round = :a AND kind < :b": ({"a": "final", "b": 10}, range(3)),
    "round = :a AND kind BETWEEN :b AND :c": ({"a": "semi", "b": 3, "c": 10}, range(9, 12)),
    "begins_with(round, :a)": ({"a": "f"}, range(6)),
    "round > :a": ({"a": "final"}, range(6, 12)),
    "round = :a AND kind = :b AND game = :c": ({"a": "semi", "b": 2, "c": "ab"}, [7]),
    "round = :a AND kind = :b AND begins_with(game, :c)": ({"a": "semi", "b": 2, "c": "a"}, [6, 7]),
    "round = :a AND kind = :b AND game >= :c": ({"a": "semi", "b": 10, "c": "ab"}, [10, 11]),
}


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("condition", SELECTED)
def test_conditions_use_the_sort_attributes_from_left_to_right(filled, condition, forward):
    given, expected = SELECTED[condition]
    request = {**query(condition, **given), "ScanIndexForward": forward}
    expected = list(expected) if forward else list(expected)[::-1]
    assert keys(filled.query(**request)["Items"]) == expected
    assert keys(all_items(filled.query, **request, Limit=2)) == expected


def test_only_items_with_every_attribute_are_indexed(filled):
    assert filled.scan(IndexName="gsi")["Count"] == 13


def test_the_last_key_has_every_attribute(filled):
    page = next(pages(filled.query, **query(), Limit=1))
    assert page["LastEvaluatedKey"] == wire(pk="0", tournament="T", area=1, round="final", kind=2, game="a")


def test_every_partition_attribute_needs_an_equality(filled):
    with invalid("Query condition missed key schema element: area"):
        filled.query(
            IndexName="gsi",
            KeyConditionExpression="tournament = :t",
            ExpressionAttributeValues=values(t="T"),
        )


def test_a_sort_attribute_cannot_be_skipped_or_compared_before_the_last(filled):
    with invalid(
        "RANGE key attributes round must have equality conditions specified in the query "
        "because a condition is present on key attribute kind"
    ):
        filled.query(**query("round > :a AND kind = :b", a="a", b=1))


def test_the_description_shows_the_key_as_it_was_given(filled):
    [index] = filled.describe_table()["Table"]["GlobalSecondaryIndexes"]
    assert [(e["AttributeName"], e["KeyType"]) for e in index["KeySchema"]] == [
        ("tournament", "HASH"),
        ("area", "HASH"),
        ("round", "RANGE"),
        ("kind", "RANGE"),
        ("game", "RANGE"),
    ]


def test_four_attributes_on_each_side_are_enough(client, make_table):
    make_table("pk", global_={"gsi": "a b c d / e f g h"})
    request = table_request("pk", global_={"gsi": "a b c d e / f"})
    with invalid(INVALID + "The KeySchema exceeds the maximum allowed number of HASH key attributes"):
        client.create_table(**request)


def test_the_sort_attributes_share_1024_bytes(make_table):
    table = make_table("pk", global_={"gsi": "a / b c"})
    table.put_item(Item=wire(pk="1", a="x", b="x" * 1000, c="x" * 24))
    with invalid(INVALID + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"):
        table.put_item(Item=wire(pk="1", a="x", b="x" * 1000, c="x" * 25))
