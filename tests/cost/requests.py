"""The requests whose cost is kept: what applications send most, in the sizes that the benchmark uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import orjson

from harness import AUTHORIZATION, Engine, FakeExchange, target_of

Json = dict[str, Any]
TEXT = "words " * 160
INDEXES = ("owner", "city", "team")
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def item(partition: str, sort: int, generation: int = 0) -> Json:
    names = {name: {"S": f"{name}-{sort}-{generation}"} for name in INDEXES}
    return {"pk": {"S": partition}, "sk": {"S": f"{sort:06d}"}, "count": {"N": "1"}, "text": {"S": TEXT}, **names}


def key(partition: str, sort: int) -> Json:
    return {"pk": {"S": partition}, "sk": {"S": f"{sort:06d}"}}


def prepared() -> Engine:
    """A server with a plain table of 250 items in five partitions, one with three indexes and one with a stream."""
    engine = Engine()
    engine.create_table("plain")
    engine.create_table("streamed", StreamSpecification=STREAM)
    attributes = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", *INDEXES)]
    engine.create_table("indexed", AttributeDefinitions=attributes, GlobalSecondaryIndexes=[*map(index, INDEXES)])
    for partition in range(5):
        for sort in range(50):
            engine.call("PutItem", TableName="plain", Item=item(f"p{partition}", sort))
    return engine


def index(name: str) -> Json:
    schema = [{"AttributeName": name, "KeyType": "HASH"}]
    return {"IndexName": name, "KeySchema": schema, "Projection": {"ProjectionType": "ALL"}}


def requests(generation: int) -> Iterator[tuple[str, str, Json]]:
    """A name, an operation and its members. Sent in turn for two generations, each does the same work every time:
    a put of what is there already would change neither index nor stream."""
    one = {"TableName": "plain", "Key": key("p1", 7)}
    partition = {
        "TableName": "plain",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "p1"}},
    }
    values = {":pk": {"S": "p1"}, ":least": {"N": "0"}}
    hundred = [key(f"p{number // 50}", number % 50) for number in range(100)]
    puts = [{"PutRequest": {"Item": item("p2", sort, generation)}} for sort in range(25)]
    update = {
        "UpdateExpression": "ADD #count :one",
        "ConditionExpression": "attribute_exists(pk) AND #count < :limit",
        "ExpressionAttributeNames": {"#count": "count"},
        "ExpressionAttributeValues": {":one": {"N": "1"}, ":limit": {"N": "1000000000"}},
    }
    yield "GetItem", "GetItem", one
    yield "GetItem, projection", "GetItem", {**one, "ProjectionExpression": "sk, city"}
    yield "GetItem, missing", "GetItem", {"TableName": "plain", "Key": key("nobody", 7)}
    yield "Query, 50 items", "Query", partition
    yield (
        "Query, 50 items, filter",
        "Query",
        {
            **partition,
            "FilterExpression": "#count > :least",
            "ExpressionAttributeNames": {"#count": "count"},
            "ExpressionAttributeValues": values,
        },
    )
    yield "Scan, 250 items", "Scan", {"TableName": "plain"}
    yield "BatchGetItem, 100 items", "BatchGetItem", {"RequestItems": {"plain": {"Keys": hundred}}}
    for table in ("plain", "indexed", "streamed"):
        yield f"PutItem, {table} table", "PutItem", {"TableName": table, "Item": item("p3", 7, generation)}
    yield "UpdateItem, condition and ADD", "UpdateItem", {**one, **update}
    yield "DeleteItem, missing", "DeleteItem", {"TableName": "plain", "Key": key("nobody", 7)}
    yield "BatchWriteItem, 25 items", "BatchWriteItem", {"RequestItems": {"plain": puts}}
    yield (
        "TransactWriteItems, 2 items",
        "TransactWriteItems",
        {"TransactItems": [{"Put": {"TableName": "plain", "Item": item("p4", sort, generation)}} for sort in range(2)]},
    )


def actions(engine: Engine) -> dict[str, Callable[[], None]]:
    return {
        name: sending(engine, operation, (first, second))
        for (name, operation, first), (_, _, second) in zip(requests(0), requests(1), strict=True)
    }


def sending(engine: Engine, operation: str, members: tuple[Json, Json]) -> Callable[[], None]:
    """Sends one and the other in turn, as the door does when it has read a request; only the handler's work counts."""
    headers = {
        b"content-type": b"application/x-amz-json-1.0",
        b"x-amz-target": target_of(operation),
        b"x-amz-date": b"20260101T000000Z",
        b"authorization": AUTHORIZATION % (b"AKID", b"us-east-1"),
    }
    bodies = cycle(map(orjson.dumps, members))
    handle: Any = engine._handle

    def send() -> None:
        exchange = FakeExchange(headers, next(bodies))
        handle(exchange)
        assert exchange.answer is not None
        assert exchange.answer[0] == 200, exchange.answer

    return send
