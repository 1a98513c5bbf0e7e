"""The items, tables and requests of the workloads. All follow from key numbers, so that all systems get the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

Json = dict[str, Any]
Request = tuple[str, Json]  # an operation and its members

TABLE = "benchmark"
ITEMS = 10_000
MILLION = 1_000_000
PARTITION_ITEMS = 50
LARGE_PARTITIONS, LARGE_PARTITION_ITEMS = 5, 1_000
VARIANTS = 16  # different items, so that no answer can be kept for the next request
CITY_ITEMS = 50
TEXT_LENGTH = 940
BATCH_READS, BATCH_WRITES = 100, 25
TEXT = "the quick brown fox jumps over a lazy dog while seven wizards mix potions"


def number(key: int) -> str:
    """A key number as it stands in a key, always ten digits."""
    return f"{key:010d}"


@cache
def text_of(seed: int, length: int) -> str:
    chance, words = random.Random(seed), TEXT.split()
    return " ".join(chance.choice(words) for _ in range(length // 2))[:length]


def item_1k(key: int, prefix: str = "user") -> Json:
    """1 KB, nearly all of it in one string, which is what every system reads and prints fastest.

    `owner`, `city` and `score` can be index keys.
    """
    variant = key % VARIANTS
    return {
        "pk": {"S": f"{prefix}-{number(key)}"},
        "owner": {"S": f"owner-{number(key)}"},
        "city": {"S": f"city-{number(key // CITY_ITEMS)}"},
        "score": {"N": str(variant * 17 + 0.5)},
        "counter": {"N": "0"},
        "text": {"S": text_of(variant, TEXT_LENGTH)},
    }


def item_nested(key: int) -> Json:
    """1 KB in thirty small values of many types, some inside others."""
    variant = key % VARIANTS
    address = {"street": {"S": text_of(variant, 40)}, "number": {"N": str(variant)}, "verified": {"BOOL": True}}
    return item_1k(key) | {
        "tags": {"SS": ["blue", "green", "red"]},
        "address": {"M": address},
        "history": {"L": [{"N": str(n)} for n in range(variant, variant + 8)]},
        "lines": {"L": [{"S": text_of(variant + n, 60)} for n in range(9)]},
        "text": {"S": text_of(variant, 200)},
    }


def items_of(count: int, item: Callable[[int], Json] = item_1k) -> Iterator[Json]:
    return map(item, range(count))


def order(partition: str, sort: int) -> Json:
    return {
        "pk": {"S": partition},
        "sk": {"S": f"order-{sort:06d}"},
        "total": {"N": str(sort * 1.25)},
        "state": {"S": "open" if sort % 2 else "paid"},
        "text": {"S": text_of(sort % 50, 190)},
    }


def orders(partitions: int) -> Iterator[Json]:
    """Items of 250 bytes: partitions of fifty, and a few of a thousand."""
    for partition in range(partitions):
        yield from (order(f"user-{number(partition)}", sort) for sort in range(PARTITION_ITEMS))
    for partition in range(LARGE_PARTITIONS):
        yield from (order(f"shop-{number(partition)}", sort) for sort in range(LARGE_PARTITION_ITEMS))


def size_bytes(item: Json) -> int:
    """The size of an item by DynamoDB's rules: names and values, without the JSON around them."""
    return sum(len(name) + _value_size_bytes(value) for name, value in item.items())


def _value_size_bytes(value: Json) -> int:
    ((kind, content),) = value.items()
    if kind == "N":
        return (len(content) + 1) // 2 + 1
    if kind == "M":
        return 3 + sum(1 + len(name) + _value_size_bytes(each) for name, each in content.items())
    if kind == "L":
        return 3 + sum(1 + _value_size_bytes(each) for each in content)
    return {"BOOL": 1, "NULL": 1}.get(kind) or sum(map(len, content))


# Tables -------------------------------------------------------------------------------------------------------------


def table(*keys: str, indexes: dict[str, str] | None = None, name: str = TABLE) -> Json:
    """A CreateTable request; `indexes` maps the partition key of each global index to its type."""
    types = dict.fromkeys(keys, "S") | (indexes or {})
    request: Json = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()],
        "KeySchema": [key_element(name, kind) for name, kind in zip(keys, ("HASH", "RANGE"), strict=False)],
    }
    if indexes:
        request["GlobalSecondaryIndexes"] = [
            {
                "IndexName": f"by-{name}",
                "KeySchema": [key_element(name, "HASH")],
                "Projection": {"ProjectionType": "ALL"},
            }
            for name in indexes
        ]
    return request


def key_element(name: str, kind: str) -> Json:
    return {"AttributeName": name, "KeyType": kind}


def recovery() -> Json:
    """A request that turns point-in-time recovery on."""
    wanted = {"PointInTimeRecoveryEnabled": True}
    return {"TableName": TABLE, "PointInTimeRecoverySpecification": wanted}


# Members of requests, each made from a key number --------------------------------------------------------------------


def key_of(key: int, prefix: str = "user") -> Json:
    return {"pk": {"S": f"{prefix}-{number(key)}"}}


def get(key: int, prefix: str = "user") -> Json:
    return {"TableName": TABLE, "Key": key_of(key, prefix)}


def get_consistent(key: int) -> Json:
    return get(key) | {"ConsistentRead": True}


def get_missing(key: int) -> Json:
    return get(key, "nobody")


def put(key: int) -> Json:
    return {"TableName": TABLE, "Item": item_1k(key)}


def update(key: int) -> Json:
    return get(key) | {
        "UpdateExpression": "ADD #counter :one",
        "ConditionExpression": "attribute_exists(pk) AND #counter < :limit",
        "ExpressionAttributeNames": {"#counter": "counter"},
        "ExpressionAttributeValues": {":one": {"N": "1"}, ":limit": {"N": "1000000000"}},
        "ReturnValues": "UPDATED_NEW",
    }


def rewritten(members: Json, turn: int) -> Json:
    """A put of another item than that of the turn before, so that there is something to write."""
    return members | {"Item": members["Item"] | {"counter": {"N": str(turn % 2 + 1)}}}


def set_text(key: int) -> Json:
    """What YCSB calls an update: a field is written. A counter sees to it that the item does change."""
    return get(key) | {
        "UpdateExpression": "SET #text = :text, #counter = #counter + :one",
        "ExpressionAttributeNames": {"#text": "text", "#counter": "counter"},
        "ExpressionAttributeValues": {":text": {"S": text_of(key % VARIANTS, TEXT_LENGTH)}, ":one": {"N": "1"}},
    }


def query(key: int, prefix: str = "user") -> Json:
    values = {":pk": {"S": f"{prefix}-{number(key)}"}}
    return {"TableName": TABLE, "KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": values}


def query_large(key: int) -> Json:
    return query(key % LARGE_PARTITIONS, "shop")


def query_one(key: int) -> Json:
    request = query(key)
    request["ExpressionAttributeValues"][":sk"] = {"S": f"order-{key % PARTITION_ITEMS:06d}"}
    return request | {"KeyConditionExpression": "pk = :pk AND sk = :sk"}


def filtered(request: Json) -> Json:
    """Half of the items pass."""
    values = request["ExpressionAttributeValues"] | {":state": {"S": "paid"}}
    names = {"#state": "state"}
    members = {"FilterExpression": "#state = :state", "ExpressionAttributeValues": values}
    return request | members | {"ExpressionAttributeNames": names}


def projected(request: Json) -> Json:
    return request | {"ProjectionExpression": "sk, #total", "ExpressionAttributeNames": {"#total": "total"}}


def query_index(key: int, attribute: str = "city") -> Json:
    value = number(key // CITY_ITEMS if attribute == "city" else key)
    return {
        "TableName": TABLE,
        "IndexName": f"by-{attribute}",
        "KeyConditionExpression": "#key = :key",
        "ExpressionAttributeNames": {"#key": attribute},
        "ExpressionAttributeValues": {":key": {"S": f"{attribute}-{value}"}},
    }


def scan(key: int) -> Json:
    return {"TableName": TABLE}


def batch_get(key: int) -> Json:
    keys = [key_of((key * 7919 + step * 101) % ITEMS) for step in range(BATCH_READS)]
    return {"RequestItems": {TABLE: {"Keys": keys}}}


def batch_write(key: int) -> Json:
    return {"RequestItems": {TABLE: [{"PutRequest": {"Item": item_1k(each)}} for each in family(key)]}}


def family(key: int) -> range:
    """The keys that one request of twenty-five writes."""
    return range(key * BATCH_WRITES, (key + 1) * BATCH_WRITES)


def transact(key: int, count: int = 2) -> Json:
    """Puts of new items; every transaction has a token, as SDKs always send one."""
    keys = family(key)[:count]
    return {
        "TransactItems": [{"Put": {"TableName": TABLE, "Item": item_1k(each)}} for each in keys],
        "ClientRequestToken": f"00000000-0000-4000-8000-00{number(key)}",
    }
