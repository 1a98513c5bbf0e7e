"""PutItem and GetItem."""

import pytest

from conformance.support.expect import condition_failed, enveloped, error_of
from conformance.support.tables import values, wire


def test_an_item_comes_back_as_it_was_put(table):
    item = wire(pk="a", sk="b", text="grüße 🎈", flag=True, nothing=None, list=[1, "two", [b"3"]], map={"a": {"b": {}}})
    assert "Attributes" not in table.put_item(Item=item)
    assert table.get_item(Key=wire(pk="a", sk="b"))["Item"] == item


def test_a_missing_item_has_no_item_member(table):
    assert "Item" not in table.get_item(Key=wire(pk="a", sk="b"))


def test_a_put_replaces_the_whole_item(table):
    table.put_item(Item=wire(pk="a", sk="b", one=1))
    table.put_item(Item=wire(pk="a", sk="b", two=2))
    assert table.get(pk="a", sk="b") == wire(pk="a", sk="b", two=2)


def test_items_differ_by_either_part_of_the_key(table):
    keys = [("a", "b"), ("a", "c"), ("b", "b"), ("ab", "b"), ("a", "bb")]
    for number, (pk, sk) in enumerate(keys):
        table.put_item(Item=wire(pk=pk, sk=sk, n=number))
    assert [table.get(pk=pk, sk=sk)["n"]["N"] for pk, sk in keys] == ["0", "1", "2", "3", "4"]


def test_put_returns_the_old_item_on_request(table):
    old, new = wire(pk="a", sk="b", one=1), wire(pk="a", sk="b", two=2)
    assert "Attributes" not in table.put_item(Item=old, ReturnValues="ALL_OLD")
    assert table.put_item(Item=new, ReturnValues="ALL_OLD")["Attributes"] == old
    assert "Attributes" not in table.put_item(Item=new, ReturnValues="NONE")


@pytest.mark.parametrize("wanted", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_put_and_delete_return_only_old_items(table, wanted):
    with enveloped("ReturnValues can only be ALL_OLD or NONE"):
        table.put_item(Item=wire(pk="a", sk="b"), ReturnValues=wanted)
    with enveloped("ReturnValues can only be ALL_OLD or NONE"):
        table.delete_item(Key=wire(pk="a", sk="b"), ReturnValues=wanted)


def test_a_failed_condition_leaves_no_trace(table):
    item = wire(pk="a", sk="b", n=1)
    table.put_item(Item=item, ConditionExpression="attribute_not_exists(pk)")
    with condition_failed():
        table.put_item(Item=wire(pk="a", sk="b", n=2), ConditionExpression="attribute_not_exists(pk)")
    with condition_failed():
        table.delete_item(Key=wire(pk="a", sk="b"), ConditionExpression="n > :n", ExpressionAttributeValues=values(n=1))
    with condition_failed():
        table.update_item(
            Key=wire(pk="a", sk="b"),
            UpdateExpression="SET n = :m",
            ConditionExpression="n <> :n",
            ExpressionAttributeValues=values(n=1, m=5),
        )
    with condition_failed():
        table.update_item(
            Key=wire(pk="new", sk="b"), UpdateExpression="REMOVE n", ConditionExpression="attribute_exists(pk)"
        )
    assert table.scan()["Items"] == [item]


def test_a_failed_condition_shows_the_item_on_request(table):
    item = wire(pk="a", sk="b", n=1, more=["x"])
    table.put_item(Item=item)
    wanted = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    condition = {"ConditionExpression": "n = :n", "ExpressionAttributeValues": values(n=2)}
    for call in (
        lambda: table.put_item(Item=wire(pk="a", sk="b"), **condition, **wanted),
        lambda: table.update_item(Key=wire(pk="a", sk="b"), **condition, **wanted),
        lambda: table.delete_item(Key=wire(pk="a", sk="b"), **condition, **wanted),
    ):
        with condition_failed() as caught:
            call()
        assert caught.value.response["Item"] == item


def test_a_failed_condition_shows_nothing_unless_asked_or_if_nothing_is_there(table):
    table.put_item(Item=wire(pk="a", sk="b"))
    with condition_failed() as caught:
        table.put_item(Item=wire(pk="a", sk="b"), ConditionExpression="attribute_not_exists(pk)")
    assert "Item" not in caught.value.response
    with condition_failed() as caught:
        table.delete_item(
            Key=wire(pk="x", sk="y"),
            ConditionExpression="attribute_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert "Item" not in caught.value.response


def test_a_condition_may_look_at_key_and_attributes_of_any_depth(table):
    table.put_item(Item=wire(pk="a", sk="b", map={"list": [{"x": 1}, {"x": 2}]}, tags={"red", "blue"}))
    table.put_item(
        Item=wire(pk="a", sk="b", done=True),
        ConditionExpression="pk = :pk AND begins_with(sk, :sk) AND #m.#l[1].x BETWEEN :one AND :two "
        "AND contains(tags, :red) AND size(#m.#l) = :two AND attribute_type(tags, :ss) AND NOT sk IN (:pk, :one)",
        ExpressionAttributeNames={"#m": "map", "#l": "list"},
        ExpressionAttributeValues=values(pk="a", sk="b", one=1, two=2, red="red", ss="SS"),
    )
    assert table.get(pk="a", sk="b") == wire(pk="a", sk="b", done=True)


PROJECTED = {
    "a": wire(a=1),
    "a, b": wire(a=1, b={"c": {"d": [1, 2, 3]}, "e": "x"}),
    "b.e": wire(b={"e": "x"}),
    "b.c.d[1]": wire(b={"c": {"d": [2]}}),
    "b.c.d[2], b.c.d[0]": wire(b={"c": {"d": [1, 3]}}),
    "b.c, b.e": wire(b={"c": {"d": [1, 2, 3]}, "e": "x"}),
    "l[1].y, l[0].x, l[1].x": wire(l=[{"x": 1}, {"x": 2, "y": 3}]),
    "b.c.d[9], b.x.y, a.b, nothing": {},
    "pk, nothing": wire(pk="a"),
}


@pytest.mark.parametrize("expression", PROJECTED)
def test_a_projection_picks_what_is_there(table, expression):
    table.put_item(
        Item=wire(pk="a", sk="b", a=1, b={"c": {"d": [1, 2, 3]}, "e": "x"}, l=[{"x": 1, "z": 0}, {"x": 2, "y": 3}])
    )
    answer = table.get_item(Key=wire(pk="a", sk="b"), ProjectionExpression=expression)
    assert answer["Item"] == PROJECTED[expression]


def test_a_name_placeholder_is_one_path_element(table):
    table.put_item(Item=wire(pk="a", sk="b", **{"x.y": 1, "x": {"y": 2}}))
    answer = table.get_item(Key=wire(pk="a", sk="b"), ProjectionExpression="#n", ExpressionAttributeNames={"#n": "x.y"})
    assert answer["Item"] == {"x.y": {"N": "1"}}


def test_empty_strings_and_binaries_are_values_but_not_keys(table):
    item = wire(pk="a", sk="b", s="", b=b"", l=["", b""], m={"x": ""}, ss={""}, bs={b""})
    table.put_item(Item=item)
    assert table.get(pk="a", sk="b") == item
    assert error_of(table.put_item, Item=wire(pk="a", sk="")) == (
        "ValidationException",
        "One or more parameter values are not valid. The AttributeValue for a key attribute "
        "cannot contain an empty string value. Key: sk",
    )
