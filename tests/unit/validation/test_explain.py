"""What is too large, too deep or too repetitive for a case file."""

from __future__ import annotations

from typing import Any

import pytest

from hashrange.errors import SerializationException, ValidationException
from hashrange.validation.echo import ECHO_LENGTH_MAX
from hashrange.validation.plausible import REMEMBERED_MAX, Remembered
from hashrange.validation.schema import schema_of
from hashrange.validation.shape import load


def nested(levels: int, innermost: Any) -> dict[str, Any]:
    value = innermost
    for _ in range(levels):
        value = {"M": {"a": value}}
    return {"TableName": "abc", "Item": {"a": value}}


def refused(operation: str, request: dict[str, Any]) -> ValidationException:
    with pytest.raises(ValidationException) as caught:
        load("dynamodb")[operation].explain(request)
    return caught.value


def test_more_than_a_hundred_keys_of_one_table_are_refused_in_both_wordings() -> None:
    error = refused("BatchGetItem", {"RequestItems": {"Tbl": {"Keys": [{} for _ in range(101)]}}})
    constraint = "failed to satisfy constraint: Member must have length less than or equal to 100"
    echoed = ", ".join(["{}"] * 101)
    assert (
        error.message
        == f"1 validation error detected: Value '[{echoed}]' at 'requestItems.Tbl.member.keys' {constraint}"
    )
    assert error.newer == f"1 validation error detected: Value at 'RequestItems.Tbl.member.Keys' {constraint}"


def test_a_hundred_keys_of_one_table_are_accepted() -> None:
    request = {"RequestItems": {"Tbl": {"Keys": [{"pk": {"S": str(number)}} for number in range(100)]}}}
    assert load("dynamodb")["BatchGetItem"].plausible(request)


def test_a_map_key_longer_than_any_attribute_name_is_refused() -> None:
    error = refused("Query", {"TableName": "abc", "KeyConditions": {"a" * 65_536: {"ComparisonOperator": "EQ"}}})
    assert error.message is not None
    assert error.message.endswith(
        "=Condition(attributeValueList=null, comparisonOperator=EQ)}' at 'keyConditions' failed to satisfy constraint: "
        "Map keys must satisfy constraint: [Member must have length less than or equal to 65535]"
    )


def test_a_wrong_type_at_the_deepest_level_is_told() -> None:
    with pytest.raises(SerializationException, match=r"^NUMBER_VALUE cannot be converted to String$"):
        load("dynamodb")["PutItem"].explain(nested(31, {"S": 1}))


def test_a_value_deeper_than_an_item_may_be_is_left_to_the_check_of_its_depth() -> None:
    request = nested(400, {"S": 1})
    assert load("dynamodb")["PutItem"].explain(request) == request


def test_an_echo_of_a_very_deep_value_ends() -> None:
    deep = nested(400, {"S": "x"})["Item"]
    error = refused("BatchWriteItem", {"RequestItems": {"a;c": [{"PutRequest": {"Item": deep}}]}})
    assert error.message is not None
    assert "at 'requestItems' failed to satisfy constraint: Map keys" in error.message


def test_an_echo_does_not_grow_with_the_request() -> None:
    items = [{"PutRequest": {"Item": {f"a{number}": {"S": "x" * 100} for number in range(1000)}}} for _ in range(26)]
    error = refused("BatchWriteItem", {"RequestItems": {"abc": items}})
    assert error.message is not None
    assert len(error.message) < ECHO_LENGTH_MAX * 1.1


def test_the_memory_of_good_names_is_bounded() -> None:
    remembered = Remembered(schema_of("dynamodb").shape("TableNameOrArn"))
    for number in range(3 * REMEMBERED_MAX):
        assert remembered[f"table-{number}"]
        assert not remembered[f"table;{number}"]
    assert len(remembered) == REMEMBERED_MAX


def test_a_text_that_was_good_once_stays_good_and_a_number_never_is() -> None:
    remembered = Remembered(schema_of("dynamodb").shape("TableNameOrArn"))
    assert remembered["abc"]
    assert remembered["abc"]
    assert not remembered[1]
    assert not remembered[None]
