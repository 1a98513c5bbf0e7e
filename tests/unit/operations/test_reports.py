"""What answers report beside their items: one entry for each table, and item collections only where there are any."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Engine

TABLE = "table"


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.create_table(TABLE)
    return engine


def key(sk: str) -> dict[str, Any]:
    return {"pk": {"S": "a"}, "sk": {"S": sk}}


def test_a_table_named_in_two_ways_is_reported_once(engine: Engine) -> None:
    arn = engine.call("DescribeTable", TableName=TABLE)["Table"]["TableArn"]
    names = {TABLE: key("1"), arn: key("2")}

    def consumed(operation: str, **members: Any) -> Any:
        return engine.call(operation, ReturnConsumedCapacity="TOTAL", **members)["ConsumedCapacity"]

    def units(count: float, kind: str | None = None) -> Any:
        return [{"TableName": TABLE, "CapacityUnits": count, **({kind: count} if kind else {})}]

    puts = {name: [{"PutRequest": {"Item": item}}] for name, item in names.items()}
    assert consumed("BatchWriteItem", RequestItems=puts) == units(2.0)
    gets = {name: {"Keys": [item]} for name, item in names.items()}
    assert consumed("BatchGetItem", RequestItems=gets) == units(1.0)
    writes: dict[str, Any] = {
        "TransactItems": [{"Put": {"TableName": name, "Item": item}} for name, item in names.items()],
        "ClientRequestToken": "once",
    }
    assert consumed("TransactWriteItems", **writes) == units(4.0, "WriteCapacityUnits")
    assert consumed("TransactWriteItems", **writes) == units(4.0, "ReadCapacityUnits")
    reads = [{"Get": {"TableName": name, "Key": item}} for name, item in names.items()]
    assert consumed("TransactGetItems", TransactItems=reads) == units(4.0, "ReadCapacityUnits")


def test_tables_without_local_indexes_have_no_item_collection_metrics(engine: Engine) -> None:
    asked = {"ReturnItemCollectionMetrics": "SIZE"}
    puts = {TABLE: [{"PutRequest": {"Item": key("1")}}]}
    assert engine.call("BatchWriteItem", RequestItems=puts, **asked) == {"UnprocessedItems": {}}
    actions = [{"Put": {"TableName": TABLE, "Item": key("1")}}]
    assert engine.call("TransactWriteItems", TransactItems=actions, **asked) == {}


def with_local_index() -> Engine:
    engine = Engine()
    local = {
        "IndexName": "local",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "other", "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
    definitions = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "other")]
    engine.create_table(TABLE, AttributeDefinitions=definitions, LocalSecondaryIndexes=[local])
    return engine


def test_a_transaction_measures_the_collections_that_it_writes_to() -> None:
    engine = with_local_index()
    engine.call("PutItem", TableName=TABLE, Item=key("1"))
    exists = {"TableName": TABLE, "Key": key("1"), "ConditionExpression": "attribute_exists(pk)"}
    put = {"TableName": TABLE, "Item": {**key("1"), "pk": {"S": "b"}}}
    actions = [{"ConditionCheck": exists}, {"Put": put}]
    answer = engine.call("TransactWriteItems", TransactItems=actions, ReturnItemCollectionMetrics="SIZE")
    assert [each["ItemCollectionKey"] for each in answer["ItemCollectionMetrics"][TABLE]] == [{"pk": {"S": "b"}}]


def test_items_fetched_for_a_local_index_fill_a_page() -> None:
    engine = with_local_index()
    for number in range(5):
        item = {**key(str(number)), "other": {"S": str(number)}, "fill": {"S": "x" * 400_000}}
        engine.call("PutItem", TableName=TABLE, Item=item)
    query: dict[str, Any] = {
        "TableName": TABLE,
        "IndexName": "local",
        "KeyConditionExpression": "pk = :a",
        "ExpressionAttributeValues": {":a": {"S": "a"}},
        "Select": "ALL_ATTRIBUTES",
    }
    first = engine.call("Query", **query)
    assert first["Count"] == 3
    second = engine.call("Query", ExclusiveStartKey=first["LastEvaluatedKey"], **query)
    assert [item["sk"]["S"] for item in second["Items"]] == ["3", "4"]
    assert "LastEvaluatedKey" not in second
