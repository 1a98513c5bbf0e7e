"""BatchExecuteStatement: each statement for itself, and the few rules that hold for all of them together."""

from __future__ import annotations

from typing import Any

import pytest

ITEM = {"pk": {"S": "a"}, "sk": {"S": "1"}, "n": {"N": "1"}}


def insert(sk: str, rest: str = "") -> str:
    return f"INSERT INTO \"table\" VALUE {{'pk': 'a', 'sk': '{sk}'{rest}}}"


def select(sk: str, what: str = "*") -> str:
    return f"SELECT {what} FROM \"table\" WHERE pk = 'a' AND sk = '{sk}'"


def update(sk: str, rest: str = "") -> str:
    return f"UPDATE \"table\" SET n = 2 WHERE pk = 'a' AND sk = '{sk}'{rest}"


def delete(sk: str, rest: str = "") -> str:
    return f"DELETE FROM \"table\" WHERE pk = 'a' AND sk = '{sk}'{rest}"


def failure(code: str, message: str, **members: Any) -> Any:
    return {"Error": {"Code": code, "Message": message}, **members}


@pytest.fixture
def one(statements: Any) -> Any:
    statements.put(ITEM)
    return statements


def test_reads_are_answered_in_their_order(one: Any) -> None:
    parameters = [{"S": "a"}, {"S": "3"}]
    answer = one.batch(
        select("2"),
        select("1"),
        {"Statement": 'SELECT * FROM "table" WHERE pk = ? AND sk = ?', "Parameters": parameters},
        select("4", "n"),
    )
    assert answer == {
        "Responses": [{"TableName": "table"}, {"TableName": "table", "Item": ITEM}, *[{"TableName": "table"}] * 2]
    }


def test_a_projection_that_finds_nothing_leaves_an_empty_item(one: Any) -> None:
    assert one.batch(select("1", "other"))["Responses"] == [{"TableName": "table", "Item": {}}]
    assert one.batch(select("1", "n"))["Responses"] == [{"TableName": "table", "Item": {"n": {"N": "1"}}}]


def test_writes_succeed_or_fail_one_by_one(one: Any) -> None:
    answer = one.batch(insert("1"), insert("2"), update("3"), delete("4", " AND n = 1"), "nonsense", update("5"))
    assert answer["Responses"] == [
        failure("DuplicateItem", "Duplicate primary key exists in table", TableName="table"),
        {"TableName": "table"},
        failure("ConditionalCheckFailed", "The conditional request failed", TableName="table"),
        {"TableName": "table"},
        failure("ValidationError", "Statement wasn't well formed, can't be processed: Expected data manipulation"),
        failure("ConditionalCheckFailed", "The conditional request failed", TableName="table"),
    ]
    assert one.get("a", "1") == ITEM
    assert one.get("a", "2") is not None


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        (
            "SELECT * FROM \"table\" WHERE pk = 'a'",
            failure(
                "ValidationError",
                "Select statements within BatchExecuteStatement must specify the primary key in the where clause.",
                TableName="table",
            ),
        ),
        (
            'SELECT * FROM "table"',
            failure(
                "ValidationError",
                "Select statements within BatchExecuteStatement must specify the primary key in the where clause.",
                TableName="table",
            ),
        ),
        (
            "SELECT * FROM \"table\" WHERE pk = 'a' AND sk = 1",
            failure("ValidationError", "The provided key element does not match the schema", TableName="table"),
        ),
        ("SELECT * FROM nope WHERE pk = 'a'", failure("ResourceNotFound", "Requested resource not found")),
        ("EXISTS(SELECT * FROM t)", failure("ValidationError", "Unrecognized function: exists at 1:1:6")),
        (
            'SELECT * FROM "table" WHERE pk = ?',
            failure("ValidationError", "Number of parameters in request and statement don't match."),
        ),
        ('SELECT * FROM "table"."nope"', failure("ValidationError", "The table does not have the specified index")),
    ],
)
def test_a_read_that_fails_fails_alone(one: Any, statement: str, error: Any) -> None:
    responses = one.batch(select("1"), statement)["Responses"]
    assert responses == [{"TableName": "table", "Item": ITEM}, error]


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        (
            "UPDATE \"table\" SET n = 2 WHERE pk = 'a'",
            failure(
                "ValidationError",
                "Where clause does not contain a mandatory equality on all key attributes",
                TableName="table",
            ),
        ),
        ("DELETE FROM nope WHERE pk = 'a'", failure("ResourceNotFound", "Requested resource not found")),
        (
            update("1", " AND n = 5"),
            failure("ConditionalCheckFailed", "The conditional request failed", TableName="table"),
        ),
        (
            update("1").replace("n = 2", "n = absent"),
            failure(
                "ValidationError",
                "The provided expression refers to an attribute that does not exist in the item",
                TableName="table",
            ),
        ),
        (
            insert("9", ", 'x': <<>>"),
            failure("ValidationError", "Empty bags are not supported"),
        ),
    ],
)
def test_a_write_that_fails_fails_alone(one: Any, statement: str, error: Any) -> None:
    assert one.batch(insert("2"), statement)["Responses"] == [{"TableName": "table"}, error]
    assert one.get("a", "1") == ITEM


def test_reads_and_writes_do_not_mix(one: Any, refused: Any) -> None:
    refusal = refused(one.batch, insert("2"), select("1"))
    assert refusal.code == "ValidationException"
    assert refusal.message == "Read and write requests together in the same batch is not supported."
    assert one.get("a", "2") is None
    assert len(one.batch("nonsense", select("1"))["Responses"]) == 2


@pytest.mark.parametrize(
    "pair", [(select("1"), select("1", "n")), (insert("2"), delete("2")), (update("1"), update("1"))]
)
def test_no_item_is_meant_twice(one: Any, refused: Any, pair: Any) -> None:
    refusal = refused(one.batch, *pair)
    assert refusal.code == "ValidationException"
    assert refusal.message == "Provided list of item keys contains duplicates"
    assert one.get("a", "1") == ITEM
    assert one.get("a", "2") is None


def test_statements_without_an_item_are_left_out_of_the_duplicates(one: Any) -> None:
    responses = one.batch("SELECT * FROM \"table\" WHERE pk = 'a'", "SELECT * FROM \"table\" WHERE pk = 'a'")[
        "Responses"
    ]
    assert [response["Error"]["Code"] for response in responses] == ["ValidationError"] * 2


def test_a_batch_in_which_nothing_can_be_read_is_answered(one: Any) -> None:
    responses = one.batch("nonsense", "more of it")["Responses"]
    assert [response["Error"]["Code"] for response in responses] == ["ValidationError"] * 2


def test_capacity_is_told_by_table_and_failures_count(one: Any) -> None:
    one.create_table("other")
    reads = one.batch(
        {"Statement": select("1"), "ConsistentRead": True},
        select("2"),
        "SELECT * FROM other WHERE pk = 'a' AND sk = 'a'",
        ReturnConsumedCapacity="TOTAL",
    )
    assert reads["ConsumedCapacity"] == [
        {"TableName": "table", "CapacityUnits": 1.5},
        {"TableName": "other", "CapacityUnits": 0.5},
    ]
    failed_elsewhere = "UPDATE other SET n = 1 WHERE pk = 'a' AND sk = 'a'"
    writes = one.batch(insert("1"), insert("2"), failed_elsewhere, ReturnConsumedCapacity="TOTAL")
    assert writes["ConsumedCapacity"] == [{"TableName": "table", "CapacityUnits": 2.0}]
