"""The settings around indexes: how late they hear of writes, and how large item collections grow."""

from typing import Any

from harness import Engine, expect
from hashrange.engine.database import DatabaseSettings

LOCAL = {
    "IndexName": "by-date",
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "date", "KeyType": "RANGE"},
    ],
    "Projection": {"ProjectionType": "ALL"},
}
GLOBAL = {**LOCAL, "KeySchema": [{"AttributeName": "date", "KeyType": "HASH"}]}
DEFINITIONS = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "date")]


def put(engine: Engine, sk: str, size: int = 0, **attributes: str) -> Any:
    item = {"pk": {"S": "a"}, "sk": {"S": sk}, "fill": {"S": "x" * size}}
    item.update({name: {"S": value} for name, value in attributes.items()})
    return engine.call("PutItem", TableName="table", Item=item, ReturnItemCollectionMetrics="SIZE")


def found(engine: Engine) -> list[str]:
    answer = engine.call(
        "Query",
        TableName="table",
        IndexName="by-date",
        KeyConditionExpression="#d = :d",
        ExpressionAttributeNames={"#d": "date"},
        ExpressionAttributeValues={":d": {"S": "today"}},
    )
    return [item["sk"]["S"] for item in answer["Items"]]


def test_with_a_delay_an_index_shows_a_write_later() -> None:
    engine = Engine(settings=DatabaseSettings(index_delay_micros=2_000_000))
    engine.create_table(AttributeDefinitions=DEFINITIONS, GlobalSecondaryIndexes=[GLOBAL])
    put(engine, "1", date="today")
    engine.run_jobs()
    assert found(engine) == []
    engine.clock.advance(1)
    put(engine, "2", date="today")
    engine.clock.advance(1.5)
    engine.run_jobs()
    assert found(engine) == ["1"]
    put(engine, "1", date="tomorrow")
    put(engine, "1", date="today")
    put(engine, "1", date="never")
    engine.clock.advance(3)
    engine.run_jobs()
    assert found(engine) == ["2"]
    assert engine.problems() == []


def test_without_a_delay_an_index_shows_a_write_at_once() -> None:
    engine = Engine()
    engine.create_table(AttributeDefinitions=DEFINITIONS, GlobalSecondaryIndexes=[GLOBAL])
    put(engine, "1", date="today")
    assert found(engine) == ["1"]


def test_a_full_item_collection_refuses_growth_but_lets_items_go() -> None:
    engine = Engine(settings=DatabaseSettings(item_collection_bytes_max=10_000))
    engine.create_table(AttributeDefinitions=DEFINITIONS, LocalSecondaryIndexes=[LOCAL])
    metrics = put(engine, "1", 4_000, date="d")["ItemCollectionMetrics"]  # counts twice: table and index
    assert metrics == {"ItemCollectionKey": {"pk": {"S": "a"}}, "SizeEstimateRangeGB": [0.0, 1.0]}
    full = ("ItemCollectionSizeLimitExceededException", "Collection size exceeded.")
    expect(*full, lambda: put(engine, "2", 2_500))
    put(engine, "3", 1_000)
    engine.call("DeleteItem", TableName="table", Key={"pk": {"S": "a"}, "sk": {"S": "1"}})
    put(engine, "2", 2_500)
    put(engine, "4", 4_000)
    expect(*full, lambda: put(engine, "5", 4_000))
    put(engine, "2", 100)
    assert engine.problems() == []


def test_a_full_item_collection_cancels_a_transaction() -> None:
    engine = Engine(settings=DatabaseSettings(item_collection_bytes_max=1_000))
    engine.create_table(AttributeDefinitions=DEFINITIONS, LocalSecondaryIndexes=[LOCAL])
    item = {"pk": {"S": "a"}, "sk": {"S": "1"}, "fill": {"S": "x" * 2_000}}
    error = expect(
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[ItemCollectionSizeLimitExceeded]",
        lambda: engine.call("TransactWriteItems", TransactItems=[{"Put": {"TableName": "table", "Item": item}}]),
    )
    reasons = [{"Code": "ItemCollectionSizeLimitExceeded", "Message": "Collection size exceeded."}]
    assert error.body["CancellationReasons"] == reasons


def test_writes_of_one_request_fill_a_collection_together() -> None:
    engine = Engine(settings=DatabaseSettings(item_collection_bytes_max=10_000))
    engine.create_table(AttributeDefinitions=DEFINITIONS, LocalSecondaryIndexes=[LOCAL])
    items = [{"pk": {"S": "a"}, "sk": {"S": str(n)}, "fill": {"S": "x" * 4_000}} for n in range(3)]
    full = ("ItemCollectionSizeLimitExceededException", "Collection size exceeded.")
    puts = [{"PutRequest": {"Item": item}} for item in items]
    expect(*full, lambda: engine.call("BatchWriteItem", RequestItems={"table": puts}))
    actions = [{"Put": {"TableName": "table", "Item": item}} for item in items]
    expect(
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[None, None, ItemCollectionSizeLimitExceeded]",
        lambda: engine.call("TransactWriteItems", TransactItems=actions),
    )
    statements = [{"Statement": 'INSERT INTO "table" VALUE ?', "Parameters": [{"M": item}]} for item in items]
    answer = engine.call("BatchExecuteStatement", Statements=statements, ReturnConsumedCapacity="TOTAL")
    assert [response.get("Error", {}).get("Code") for response in answer["Responses"]] == [
        None,
        None,
        "ItemCollectionSizeLimitExceeded",
    ]
    assert answer["ConsumedCapacity"] == [{"TableName": "table", "CapacityUnits": 9.0}]
    assert engine.problems() == []


def test_large_items_fill_an_index_in_several_steps() -> None:
    engine = Engine()
    engine.create_table(AttributeDefinitions=DEFINITIONS[:2])
    for number in range(15):
        put(engine, str(number), 390_000, date="today")
    engine.run_jobs()
    definition = {key: GLOBAL[key] for key in ("IndexName", "KeySchema", "Projection")}
    engine.call(
        "UpdateTable",
        TableName="table",
        AttributeDefinitions=DEFINITIONS[2:],
        GlobalSecondaryIndexUpdates=[{"Create": definition}],
    )
    assert engine.run_jobs() == 3  # four megabytes, the rest, and the end
    assert engine.problems() == []
