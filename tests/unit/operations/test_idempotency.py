"""The same transaction sent twice happens once, for ten minutes."""

from typing import Any

import pytest

from harness import ApiError, Engine

KEY = {"pk": {"S": "a"}, "sk": {"S": "counter"}}


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.create_table()
    return engine


def increment(engine: Engine, token: str, by: int = 1) -> Any:
    update = {
        "TableName": "table",
        "Key": KEY,
        "UpdateExpression": "ADD n :by",
        "ExpressionAttributeValues": {":by": {"N": str(by)}},
    }
    return engine.call(
        "TransactWriteItems",
        TransactItems=[{"Update": update}],
        ClientRequestToken=token,
        ReturnConsumedCapacity="TOTAL",
    )["ConsumedCapacity"][0]


def count(engine: Engine) -> str:
    number: str = engine.call("GetItem", TableName="table", Key=KEY)["Item"]["n"]["N"]
    return number


def test_a_repeated_token_changes_nothing_and_costs_reads(engine: Engine) -> None:
    assert increment(engine, "one") == {"TableName": "table", "CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}
    assert increment(engine, "one") == {"TableName": "table", "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}
    assert count(engine) == "1"
    increment(engine, "two")
    assert count(engine) == "2"


def test_a_token_of_another_request_is_refused(engine: Engine) -> None:
    increment(engine, "one")
    with pytest.raises(ApiError) as refused:
        increment(engine, "one", by=2)
    assert refused.value.code == "IdempotentParameterMismatchException"
    assert count(engine) == "1"


def test_after_ten_minutes_the_token_is_new_again_and_forgotten_in_the_store(engine: Engine) -> None:
    increment(engine, "one")
    engine.clock.advance(599)
    engine.run_jobs()
    increment(engine, "one")
    assert count(engine) == "1"
    engine.clock.advance(2)
    engine.run_jobs()
    with engine.store.read() as snapshot:
        assert list(snapshot.scan(b"t", b"u")) == []
        assert list(snapshot.scan(b"e", b"f")) == []
    increment(engine, "one")
    assert count(engine) == "2"


def test_a_cancelled_transaction_leaves_its_token_free(engine: Engine) -> None:
    check = {"TableName": "table", "Key": KEY, "ConditionExpression": "attribute_exists(pk)"}
    request: dict[str, Any] = {"TransactItems": [{"ConditionCheck": check}], "ClientRequestToken": "one"}
    with pytest.raises(ApiError):
        engine.call("TransactWriteItems", **request)
    engine.call("PutItem", TableName="table", Item=KEY)
    engine.call("TransactWriteItems", **request)


def test_a_repeated_put_succeeds_even_if_its_item_could_not_be_written_any_more(engine: Engine) -> None:
    item = {**KEY, "owned": {"N": "1"}}
    request: dict[str, Any] = {
        "TransactItems": [{"Put": {"TableName": "table", "Item": item}}],
        "ClientRequestToken": "one",
    }
    engine.call("TransactWriteItems", **request)
    index = {
        "IndexName": "by-owner",
        "KeySchema": [{"AttributeName": "owned", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    engine.call(
        "UpdateTable",
        TableName="table",
        AttributeDefinitions=[{"AttributeName": "owned", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": index}],
    )
    engine.call("TransactWriteItems", **request)
