"""UpdateItem and DeleteItem."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from conformance.support.expect import error_of, invalid
from conformance.support.tables import values, wire

KEY = wire(pk="a", sk="b")
ITEM = wire(
    pk="a", sk="b", n=5, s="text", l=["a", "b", "c"], m={"x": 1, "y": {"z": 2}}, ss={"a", "b"}, ns={1, 2}, nothing=None
)


@pytest.fixture
def stored(table):
    table.put_item(Item=ITEM)
    return table


def update(table, expression, key=KEY, **given):
    request = {"ExpressionAttributeValues": values(**given)} if given else {}
    return table.update_item(Key=key, UpdateExpression=expression, ReturnValues="ALL_NEW", **request)["Attributes"]


CHANGES = {
    "SET n = :v": ({"v": "new"}, wire(n="new")),
    "SET n = n + :v": ({"v": Decimal("0.5")}, wire(n=Decimal("5.5"))),
    "SET n = :v - n": ({"v": 1}, wire(n=-4)),
    "SET n = s, s = n": ({}, wire(n="text", s=5)),
    "SET k = if_not_exists(k, :v)": ({"v": 1}, wire(k=1)),
    "SET n = if_not_exists(n, :v) + :v": ({"v": 1}, wire(n=6)),
    "SET l = list_append(l, :v)": ({"v": ["d"]}, wire(l=["a", "b", "c", "d"])),
    "SET l = list_append(:v, l)": ({"v": ["d"]}, wire(l=["d", "a", "b", "c"])),
    "SET k = list_append(if_not_exists(k, :e), :v)": ({"e": [], "v": [1]}, wire(k=[1])),
    "SET l[1] = :v": ({"v": "x"}, wire(l=["a", "x", "c"])),
    "SET l[7] = :v, l[5] = :w": ({"v": "x", "w": "y"}, wire(l=["a", "b", "c", "y", "x"])),
    "SET m.y.z = :v, m.y.w = :v": ({"v": 9}, wire(m={"x": 1, "y": {"z": 9, "w": 9}})),
    "REMOVE l[0], l[2], l[9]": ({}, wire(l=["b"])),
    "REMOVE m.y.z, m.absent": ({}, wire(m={"x": 1, "y": {}})),
    "ADD n :v": ({"v": -7}, wire(n=-2)),
    "ADD k :v": ({"v": 3}, wire(k=3)),
    "ADD ss :v": ({"v": {"c", "a"}}, wire(ss={"a", "b", "c"})),
    "ADD k :v, m.x :w": ({"v": {b"x"}, "w": 1}, wire(k={b"x"}, m={"x": 2, "y": {"z": 2}})),
    "DELETE ns :v": ({"v": {1, 99}}, wire(ns={2})),
    "DELETE k :v": ({"v": {1}}, {}),
    "SET k = :v REMOVE n ADD ns :w DELETE ss :x": (
        {"v": True, "w": {3}, "x": {"a"}},
        {**wire(k=True, ns={1, 2, 3}, ss={"b"}), "n": None},
    ),
    "DELETE ss :v, ns :w": ({"v": {"a", "b"}, "w": {1, 2}}, {"ss": None, "ns": None}),
    "REMOVE s, absent": ({}, {"s": None}),
    "SET k = nothing": ({}, wire(k=None)),
    "set k=:v remove s": ({"v": 1}, {"k": {"N": "1"}, "s": None}),
}


def same(item):
    """An item with its sets in one order."""
    return {
        name: {kind: sorted(content) if kind in ("SS", "NS", "BS") else content for kind, content in value.items()}
        for name, value in item.items()
        if value is not None
    }


@pytest.mark.parametrize("expression", CHANGES)
def test_an_update_changes_what_it_names_and_nothing_else(stored, expression):
    given, changed = CHANGES[expression]
    expected = same({**ITEM, **changed})
    assert same(update(stored, expression, **given)) == expected
    assert same(stored.get(pk="a", sk="b")) == expected


REFUSED = {
    "SET k = absent, n = s": ({}, "The provided expression refers to an attribute that does not exist in the item"),
    "SET k = absent + :v": ({"v": 1}, "The provided expression refers to an attribute that does not exist in the item"),
    "SET k = s + :v": ({"v": 1}, "An operand in the update expression has an incorrect data type"),
    "SET l = list_append(s, :v)": ({"v": [1]}, "An operand in the update expression has an incorrect data type"),
    "ADD s :v": ({"v": 1}, "An operand in the update expression has an incorrect data type"),
    "DELETE ss :v": ({"v": {1}}, "An operand in the update expression has an incorrect data type"),
    "SET absent.x = :v": ({"v": 1}, "The document path provided in the update expression is invalid for update"),
    "SET l.x = :v": ({"v": 1}, "The document path provided in the update expression is invalid for update"),
    "SET m[0] = :v": ({"v": 1}, "The document path provided in the update expression is invalid for update"),
    "SET absent[0] = :v": ({"v": 1}, "The document path provided in the update expression is invalid for update"),
    "REMOVE absent.x": ({}, "The document path provided in the update expression is invalid for update"),
    "SET pk = :v": (
        {"v": "a"},
        "One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key",
    ),
    "ADD n :v": (
        {"v": Decimal("9E125")},
        "Number overflow. Attempting to store a number with magnitude larger than supported range",
    ),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_an_update_that_cannot_be_done_leaves_no_trace(stored, expression):
    given, message = REFUSED[expression]
    with invalid(message):
        update(stored, expression, **given)
    assert same(stored.get(pk="a", sk="b")) == same(ITEM)


RETURNED = {
    "NONE": None,
    "ALL_OLD": wire(pk="a", sk="b", n=5, m={"x": 1, "y": 2}),
    "UPDATED_OLD": wire(n=5, m={"x": 1}),
    "ALL_NEW": wire(pk="a", sk="b", n=6, m={"x": 7, "y": 2}, k="new"),
    "UPDATED_NEW": wire(n=6, m={"x": 7}, k="new"),
}


@pytest.mark.parametrize("wanted", RETURNED)
def test_an_update_returns_what_is_wanted(table, wanted):
    table.put_item(Item=wire(pk="a", sk="b", n=5, m={"x": 1, "y": 2}))
    answer = table.update_item(
        Key=KEY,
        UpdateExpression="SET n = n + :one, m.x = :seven, k = :new",
        ExpressionAttributeValues=values(one=1, seven=7, new="new"),
        ReturnValues=wanted,
    )
    assert answer.get("Attributes") == RETURNED[wanted]


@pytest.mark.parametrize("wanted", ["ALL_OLD", "UPDATED_OLD"])
def test_nothing_is_returned_of_an_item_that_was_not_there(table, wanted):
    answer = table.update_item(
        Key=KEY, UpdateExpression="SET n = :v", ExpressionAttributeValues=values(v=1), ReturnValues=wanted
    )
    assert "Attributes" not in answer


def test_an_update_creates_a_missing_item(table):
    assert update(table, "SET n = :v", v=1) == wire(pk="a", sk="b", n=1)
    assert update(table, "ADD n :v", key=wire(pk="c", sk="d"), v=1) == wire(pk="c", sk="d", n=1)


def test_an_update_that_only_removes_creates_nothing(table):
    table.update_item(Key=KEY, UpdateExpression="REMOVE n, m.x")
    table.update_item(Key=KEY, UpdateExpression="DELETE ss :v", ExpressionAttributeValues=values(v={"a"}))
    assert table.scan()["Count"] == 0


def test_an_update_without_any_action_creates_the_key(table):
    table.update_item(Key=KEY)
    assert table.get(pk="a", sk="b") == KEY


def test_a_failed_condition_wins_over_an_impossible_update(stored):
    code, _ = error_of(
        stored.update_item,
        Key=KEY,
        UpdateExpression="SET k = absent",
        ConditionExpression="attribute_not_exists(pk)",
    )
    assert code == "ConditionalCheckFailedException"


def test_a_deleted_item_is_gone_and_may_be_returned(stored):
    assert same(stored.delete_item(Key=KEY, ReturnValues="ALL_OLD")["Attributes"]) == same(ITEM)
    assert stored.get(pk="a", sk="b") is None


def test_deleting_what_is_not_there_succeeds(table):
    assert "Attributes" not in table.delete_item(Key=KEY, ReturnValues="ALL_OLD")


def test_a_delete_may_have_a_condition(stored):
    stored.delete_item(Key=KEY, ConditionExpression="n = :n", ExpressionAttributeValues=values(n=5))
    assert stored.get(pk="a", sk="b") is None


def test_many_clients_count_without_losing_any(table):
    def count(_):
        table.update_item(Key=KEY, UpdateExpression="ADD n :one", ExpressionAttributeValues=values(one=1))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(200)))
    assert table.get(pk="a", sk="b")["n"] == {"N": "200"}
