"""Provisioned throughput is enforced as tables declare it."""

from __future__ import annotations

from typing import Any

import pytest

from harness import ApiError, Engine
from hashrange.capacity.ledger import CapacitySettings
from hashrange.capacity.limits import Throttling

TABLE_EXCEEDED = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)
INDEX_EXCEEDED = (
    "The level of configured provisioned throughput for one or more global secondary indexes of the table was "
    "exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes "
    "with the UpdateTable API"
)
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/table"


def units(read: int, write: int) -> dict[str, int]:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def engine_with(read: int, write: int, **members: Any) -> Engine:
    engine = Engine()
    engine.create_table(BillingMode="PROVISIONED", ProvisionedThroughput=units(read, write), **members)
    return engine


def index(name: str, read: int, write: int) -> dict[str, Any]:
    return {
        "IndexName": name,
        "KeySchema": [{"AttributeName": "gk", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        "ProvisionedThroughput": units(read, write),
    }


DEFINED = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "gk")]


def put(engine: Engine, number: int = 0, **attributes: Any) -> Any:
    item = {"pk": {"S": "p"}, "sk": {"S": str(number)}, **attributes}
    return engine.call("PutItem", TableName="table", Item=item)


def get(engine: Engine, **members: Any) -> Any:
    return engine.call("GetItem", TableName="table", Key={"pk": {"S": "p"}, "sk": {"S": "0"}}, **members)


def puts_until_throttled(engine: Engine, most: int = 10_000, **attributes: Any) -> int:
    for number in range(most):
        try:
            put(engine, number, **attributes)
        except ApiError as error:
            if error.code == "ProvisionedThroughputExceededException":
                return number
            raise
    raise AssertionError("never throttled")


def test_a_table_bursts_for_exactly_five_minutes_of_its_units() -> None:
    assert puts_until_throttled(engine_with(1, 4)) == 1200


def test_every_second_brings_the_provisioned_units() -> None:
    engine = engine_with(1, 4)
    puts_until_throttled(engine)
    engine.clock.advance(1)
    assert puts_until_throttled(engine) == 4
    engine.clock.advance(0.5)
    assert puts_until_throttled(engine) == 0
    engine.clock.advance(10_000)
    assert puts_until_throttled(engine) == 1200


def test_the_error_names_the_reason_and_the_resource() -> None:
    engine = engine_with(1, 1)
    puts_until_throttled(engine)
    with pytest.raises(ApiError) as caught:
        put(engine)
    assert caught.value.message == TABLE_EXCEEDED
    assert caught.value.body["ThrottlingReasons"] == [
        {"reason": "TableWriteProvisionedThroughputExceeded", "resource": ARN}
    ]


def test_reads_and_writes_have_credit_of_their_own() -> None:
    engine = engine_with(2, 1)
    puts_until_throttled(engine)
    for _ in range(1200):
        get(engine)
    with pytest.raises(ApiError) as caught:
        get(engine)
    assert caught.value.body["ThrottlingReasons"][0]["reason"] == "TableReadProvisionedThroughputExceeded"


def test_a_throttled_write_changes_nothing() -> None:
    engine = engine_with(100, 1)
    throttled = puts_until_throttled(engine)
    assert "Item" not in engine.call("GetItem", TableName="table", Key={"pk": {"S": "p"}, "sk": {"S": str(throttled)}})
    assert engine.problems() == []


def test_a_false_condition_costs_as_the_write_would() -> None:
    engine = engine_with(1, 4)
    put(engine, 0, data={"S": "x" * 3000})  # 3 units
    for _ in range(399):
        with pytest.raises(ApiError, match="conditional request failed"):
            engine.call(
                "PutItem",
                TableName="table",
                Item={"pk": {"S": "p"}, "sk": {"S": "0"}},
                ConditionExpression="attribute_not_exists(pk)",
            )
    with pytest.raises(ApiError, match="provisioned throughput"):
        put(engine)


def test_an_invalid_request_costs_nothing() -> None:
    engine = engine_with(1, 1)
    for _ in range(400):
        with pytest.raises(ApiError, match="Missing the key"):
            engine.call("PutItem", TableName="table", Item={"pk": {"S": "p"}})
    assert puts_until_throttled(engine) == 300


def test_an_exhausted_index_holds_back_writes_that_touch_it() -> None:
    engine = engine_with(1, 100, GlobalSecondaryIndexes=[index("slow", 1, 1)], AttributeDefinitions=DEFINED)
    assert puts_until_throttled(engine, gk={"S": "g"}) == 300
    with pytest.raises(ApiError) as caught:
        put(engine, 1000, gk={"S": "g"})
    assert caught.value.message == INDEX_EXCEEDED
    assert caught.value.body["ThrottlingReasons"] == [
        {"reason": "IndexWriteProvisionedThroughputExceeded", "resource": f"{ARN}/index/slow"}
    ]
    put(engine, 1001)  # does not touch the index
    assert engine.problems() == []


def test_an_index_is_read_at_its_own_cost() -> None:
    engine = engine_with(1, 100, GlobalSecondaryIndexes=[index("slow", 1, 50)], AttributeDefinitions=DEFINED)
    query = {
        "TableName": "table",
        "IndexName": "slow",
        "KeyConditionExpression": "gk = :g",
        "ExpressionAttributeValues": {":g": {"S": "g"}},
    }
    for _ in range(600):
        engine.call("Query", **query)
    with pytest.raises(ApiError, match="global secondary indexes"):
        engine.call("Query", **query)
    get(engine)


def test_local_indexes_draw_on_the_table() -> None:
    local = {
        "IndexName": "local",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "gk", "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    engine = engine_with(1, 2, LocalSecondaryIndexes=[local], AttributeDefinitions=DEFINED)
    assert puts_until_throttled(engine, gk={"S": "g"}) == 300  # two units each


def test_a_batch_returns_what_it_could_not_write() -> None:
    engine = engine_with(1, 1)
    for number in range(290):
        put(engine, number)
    elements = [{"PutRequest": {"Item": {"pk": {"S": "b"}, "sk": {"S": str(n)}}}} for n in range(25)]
    answer = engine.call("BatchWriteItem", RequestItems={"table": elements}, ReturnConsumedCapacity="TOTAL")
    assert answer["UnprocessedItems"] == {"table": elements[10:]}
    assert answer["ConsumedCapacity"][0]["CapacityUnits"] == 10
    with pytest.raises(ApiError, match="provisioned throughput"):
        engine.call("BatchWriteItem", RequestItems={"table": elements})
    assert engine.call("Scan", TableName="table", Select="COUNT")["Count"] == 300
    assert engine.problems() == []


def test_a_batch_returns_the_keys_it_could_not_read() -> None:
    engine = engine_with(1, 1)
    engine.create_table("rich", BillingMode="PAY_PER_REQUEST")
    for _ in range(600):
        get(engine)
    keys = [{"pk": {"S": "p"}, "sk": {"S": "0"}}]
    wanted = {"table": {"Keys": keys, "ConsistentRead": True}, "rich": {"Keys": keys}}
    answer = engine.call("BatchGetItem", RequestItems=wanted, ReturnConsumedCapacity="TOTAL")
    assert answer["UnprocessedKeys"] == {"table": wanted["table"]}
    assert [each["TableName"] for each in answer["ConsumedCapacity"]] == ["rich"]
    with pytest.raises(ApiError, match="provisioned throughput"):
        engine.call("BatchGetItem", RequestItems={"table": wanted["table"]})


def test_a_transaction_is_cancelled_with_the_reason() -> None:
    engine = engine_with(1, 1)
    engine.create_table("rich", BillingMode="PAY_PER_REQUEST")
    puts_until_throttled(engine)
    item = {"pk": {"S": "t"}, "sk": {"S": "0"}}
    actions = [{"Put": {"TableName": name, "Item": item}} for name in ("rich", "table")]
    with pytest.raises(ApiError) as caught:
        engine.call("TransactWriteItems", TransactItems=actions)
    assert caught.value.code == "TransactionCanceledException"
    innocent, reason = caught.value.body["CancellationReasons"]
    assert innocent == {"Code": "None"}
    assert reason["Code"] == "ProvisionedThroughputExceeded"
    assert reason["Message"] == TABLE_EXCEEDED
    assert "Item" not in engine.call("GetItem", TableName="rich", Key=item)


def test_a_transaction_pays_double() -> None:
    engine = engine_with(1, 1)
    for number in range(150):
        item = {"pk": {"S": "t"}, "sk": {"S": str(number)}}
        engine.call("TransactWriteItems", TransactItems=[{"Put": {"TableName": "table", "Item": item}}])
    with pytest.raises(ApiError, match="provisioned throughput"):
        put(engine)


def test_a_cancellation_reason_has_the_members_of_one() -> None:
    engine = engine_with(1, 1)
    puts_until_throttled(engine)
    with pytest.raises(ApiError) as caught:
        engine.call(
            "TransactWriteItems",
            TransactItems=[{"Put": {"TableName": "table", "Item": {"pk": {"S": "p"}, "sk": {"S": "0"}}}}],
        )
    assert caught.value.body["CancellationReasons"] == [
        {"Code": "ProvisionedThroughputExceeded", "Message": TABLE_EXCEEDED}
    ]


def test_a_cancelled_transaction_costs_nothing_in_indexes() -> None:
    engine = engine_with(1, 1000, GlobalSecondaryIndexes=[index("by-g", 1, 1)], AttributeDefinitions=DEFINED)
    actions = [
        {"Put": {"TableName": "table", "Item": {"pk": {"S": "p"}, "sk": {"S": "0"}, "gk": {"S": "g"}}}},
        {
            "ConditionCheck": {
                "TableName": "table",
                "Key": {"pk": {"S": "none"}, "sk": {"S": "0"}},
                "ConditionExpression": "attribute_exists(pk)",
            }
        },
    ]
    for _ in range(10):
        with pytest.raises(ApiError, match="ConditionalCheckFailed"):
            engine.call("TransactWriteItems", TransactItems=actions)
    assert puts_until_throttled(engine, gk={"S": "g"}) == 300


def test_an_insert_of_an_item_that_is_there_costs_as_a_false_condition_does() -> None:
    engine = engine_with(1, 1)
    put(engine)
    insert = "INSERT INTO \"table\" VALUE {'pk': 'p', 'sk': '0'}"
    for _ in range(299):
        with pytest.raises(ApiError, match="DuplicateItemException"):
            engine.call("ExecuteStatement", Statement=insert)
    with pytest.raises(ApiError, match="ProvisionedThroughputExceededException"):
        engine.call("ExecuteStatement", Statement=insert)


def test_a_throttled_statement_of_a_batch_is_not_in_what_the_batch_consumed() -> None:
    engine = engine_with(1, 1000, GlobalSecondaryIndexes=[index("by-g", 1, 1)], AttributeDefinitions=DEFINED)
    puts_until_throttled(engine, gk={"S": "g"})
    answer = engine.call(
        "BatchExecuteStatement",
        ReturnConsumedCapacity="TOTAL",
        Statements=[
            {"Statement": "UPDATE \"table\" SET gk = 'other' WHERE pk = 'p' AND sk = '0'"},
            {"Statement": "INSERT INTO \"table\" VALUE {'pk': 'p', 'sk': 'without the index'}"},
        ],
    )
    assert answer["Responses"][0]["Error"]["Code"] == "ProvisionedThroughputExceeded"
    assert answer["ConsumedCapacity"] == [{"TableName": "table", "CapacityUnits": 1.0}]


def test_partiql_is_throttled_like_everything_else() -> None:
    engine = engine_with(1, 1)
    puts_until_throttled(engine)
    with pytest.raises(ApiError, match="provisioned throughput"):
        engine.call("ExecuteStatement", Statement="INSERT INTO \"table\" VALUE {'pk': 'x', 'sk': 'y'}")
    answer = engine.call(
        "BatchExecuteStatement", Statements=[{"Statement": "INSERT INTO \"table\" VALUE {'pk': 'x', 'sk': 'y'}"}]
    )
    assert answer["Responses"][0]["Error"]["Code"] == "ProvisionedThroughputExceeded"


def test_more_capacity_helps_at_once() -> None:
    engine = engine_with(1, 1)
    puts_until_throttled(engine)
    engine.call("UpdateTable", TableName="table", ProvisionedThroughput=units(1, 50))
    assert puts_until_throttled(engine) == 49
    engine.clock.advance(1)
    assert puts_until_throttled(engine) == 50


def test_a_change_that_is_not_about_capacity_brings_no_credit() -> None:
    engine = engine_with(1, 1)
    puts_until_throttled(engine)
    engine.call("UpdateTable", TableName="table", DeletionProtectionEnabled=True)
    assert puts_until_throttled(engine) == 0


def test_nothing_is_throttled_where_that_is_turned_off() -> None:
    engine = Engine(capacity=CapacitySettings(throttling=Throttling.OFF))
    engine.create_table(BillingMode="PROVISIONED", ProvisionedThroughput=units(1, 1))
    for number in range(400):
        put(engine, number)
