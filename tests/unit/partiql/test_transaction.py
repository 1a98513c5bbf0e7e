"""ExecuteTransaction: all statements or none of them."""

from __future__ import annotations

from typing import Any

import pytest

ITEM = {"pk": {"S": "a"}, "sk": {"S": "1"}, "n": {"N": "1"}}
KEY = "pk = 'a' AND sk = '1'"
INSERT = "INSERT INTO \"table\" VALUE {'pk': 'a', 'sk': '2'}"
UPDATE = f'UPDATE "table" SET n = n + 1 WHERE {KEY}'
SELECT = f'SELECT * FROM "table" WHERE {KEY}'


@pytest.fixture
def one(statements: Any) -> Any:
    statements.put(ITEM)
    return statements


def reasons(refusal: Any) -> list[str]:
    assert refusal.code == "TransactionCanceledException"
    codes = [reason["Code"] for reason in refusal.members["CancellationReasons"]]
    expected = "Transaction cancelled, please refer cancellation reasons for specific reasons "
    assert refusal.message == f"{expected}[{', '.join(codes)}]"
    return codes


def test_writes_happen_together(one: Any) -> None:
    delete = "DELETE FROM \"table\" WHERE pk = 'a' AND sk = '3' AND n = 5"
    assert one.transact(INSERT, UPDATE, delete) == {"Responses": [{}, {}, {}]}
    assert one.get("a", "1")["n"] == {"N": "2"}
    assert one.get("a", "2") is not None


def test_reads_see_one_moment(one: Any) -> None:
    nothing = "SELECT * FROM \"table\" WHERE pk = 'a' AND sk = '2'"
    other = "SELECT other FROM \"table\" WHERE pk = 'b' AND sk = '1'"
    one.put({"pk": {"S": "b"}, "sk": {"S": "1"}})
    answer = one.transact(SELECT, nothing, other)
    assert answer == {"Responses": [{"Item": ITEM}, {}, {"Item": {}}]}


def test_a_read_whose_filter_is_false_finds_nothing(one: Any) -> None:
    assert one.transact(f"{SELECT} AND n = 2") == {"Responses": [{}]}
    assert one.transact(f"{SELECT} AND n = 1") == {"Responses": [{"Item": ITEM}]}


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("INSERT INTO \"table\" VALUE {'pk': 'a', 'sk': '1'}", "DuplicateItem"),
        (f"{UPDATE} AND n = 5", "ConditionalCheckFailed"),
        ("UPDATE \"table\" SET n = 1 WHERE pk = 'a' AND sk = 'none'", "ConditionalCheckFailed"),
        (f'DELETE FROM "table" WHERE {KEY} AND n = 5', "ConditionalCheckFailed"),
        (f"EXISTS({SELECT} AND n = 5)", "ConditionalCheckFailed"),
        ("EXISTS(SELECT * FROM \"table\" WHERE pk = 'a' AND sk = 'none' AND n IS MISSING)", "ConditionalCheckFailed"),
        (f'UPDATE "table" SET n = absent WHERE {KEY}', "ValidationError"),
        ("UPDATE \"table\" SET n = 1 WHERE pk = 'a' AND sk = 1", "ValidationError"),
        ("INSERT INTO \"table\" VALUE {'pk': 'a', 'sk': 1}", "ValidationError"),
    ],
)
def test_one_failure_cancels_everything(one: Any, refused: Any, statement: str, code: str) -> None:
    assert reasons(refused(one.transact, INSERT, statement)) == ["None", code]
    assert one.get("a", "1") == ITEM
    assert one.get("a", "2") is None


@pytest.mark.parametrize("condition", ["n = 1", "other IS MISSING", "attribute_exists(n)", "n IN [1, 2]"])
def test_exists_lets_writes_through_if_it_is_true(one: Any, condition: str) -> None:
    assert one.transact(f"EXISTS({SELECT} AND {condition})", INSERT) == {"Responses": [{}, {}]}
    assert one.get("a", "2") is not None


def test_a_cancellation_shows_the_item_if_asked(one: Any, refused: Any) -> None:
    update = {"Statement": f"{UPDATE} AND n = 5", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    reason = refused(one.transact, update).members["CancellationReasons"][0]
    assert reason == {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed", "Item": ITEM}


PREFIX = "Validation failed in TransactStatements[1]: "
MIXED = "ExecuteTransaction API does not support both read and write operations in the same request."
SAME_ITEM = "Transaction request cannot include multiple operations on one item"
EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute "
    "cannot contain an empty string value. Key: pk"
)
NO_EXTRA_CONDITION = PREFIX + "EXISTS() must contain a single item read with additional condition"


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (SELECT, INSERT, MIXED),
        (f"EXISTS({SELECT} AND n = 1)", SELECT, MIXED),
        (INSERT, f"{UPDATE} RETURNING ALL OLD *", PREFIX + "RETURNING clause is not supported in ExecuteTransaction."),
        (
            INSERT,
            f'DELETE FROM "table" WHERE {KEY} RETURNING ALL OLD *',
            PREFIX + "RETURNING clause is not supported in ExecuteTransaction.",
        ),
        (
            SELECT,
            "SELECT * FROM \"table\" WHERE pk = 'b'",
            PREFIX + "Select statements within ExecuteTransaction must specify the primary key in the where clause.",
        ),
        (INSERT, f"EXISTS({SELECT})", NO_EXTRA_CONDITION),
        (INSERT, "EXISTS(SELECT * FROM \"table\" WHERE pk = 'a')", NO_EXTRA_CONDITION),
        (INSERT, "EXISTS(SELECT * FROM \"table\" WHERE pk = 'a' AND n = 1)", NO_EXTRA_CONDITION),
        (
            INSERT,
            'UPDATE "table" SET n = 1',
            "Where clause does not contain a mandatory equality on all key attributes",
        ),
        (INSERT, "nonsense", "Statement wasn't well formed, can't be processed: Expected data manipulation"),
        (INSERT, INSERT, SAME_ITEM),
        (SELECT, SELECT, SAME_ITEM),
        (UPDATE, f"EXISTS({SELECT} AND n = 1)", SAME_ITEM),
        (SELECT, 'SELECT * FROM "table"."nope"', "The table does not have the specified index"),
        (INSERT, "UPDATE \"table\" SET n = 1 WHERE pk = '' AND sk = 'x'", EMPTY_KEY),
    ],
)
def test_a_transaction_is_refused_before_anything_runs(
    one: Any, refused: Any, first: str, second: str, message: str
) -> None:
    refusal = refused(one.transact, first, second)
    assert (refusal.code, refusal.message) == ("ValidationException", message)
    assert one.get("a", "2") is None


def test_indexes_cannot_be_read_but_the_table_is_looked_for_first(new_statements: Any, refused: Any) -> None:
    statements = new_statements()
    statements.create_table(
        GlobalSecondaryIndexes=[
            {
                "IndexName": "swapped",
                "KeySchema": [{"AttributeName": "sk", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    read = 'SELECT * FROM "table"."swapped" WHERE sk = \'a\''
    message = "Validation failed in TransactStatements[0]: Reads on indices are not supported within transactions."
    assert refused(statements.transact, read).message == message
    assert refused(statements.transact, read.replace('"table"', "nope")).code == "ResourceNotFoundException"


def test_a_repeated_token_happens_once(one: Any, refused: Any) -> None:
    members = {"ClientRequestToken": "token", "ReturnConsumedCapacity": "TOTAL"}
    first = one.transact(UPDATE, INSERT, **members)
    assert first["ConsumedCapacity"] == [{"TableName": "table", "CapacityUnits": 4.0, "WriteCapacityUnits": 4.0}]
    again = one.transact(UPDATE, INSERT, **members)
    assert again["ConsumedCapacity"] == [{"TableName": "table", "CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}]
    assert one.get("a", "1")["n"] == {"N": "2"}
    assert refused(one.transact, UPDATE, **members).code == "IdempotentParameterMismatchException"


def test_transactional_reads_cost_double(one: Any) -> None:
    other = "SELECT * FROM \"table\" WHERE pk = 'a' AND sk = '2'"
    answer = one.transact(SELECT, other, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [{"TableName": "table", "CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}]


def test_exists_costs_like_a_condition_check(one: Any) -> None:
    answer = one.transact(f"EXISTS({SELECT} AND n = 1)", ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [{"TableName": "table", "CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}]
