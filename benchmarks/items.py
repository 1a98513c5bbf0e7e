"""The items, tables and requests of the workloads."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]

TABLE = "benchmark"
ITEMS = 1_000
PARTITIONS, PARTITION_ITEMS = 100, 50
VARIANTS = 16  # different items, so that no answer can be kept for the next request
TEXT_LENGTH = 940
WORDS = (
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "a",
    "lazy",
    "dog",
    "while",
    "seven",
    "wizards",
    "mix",
    "potions",
)


def number(key: int) -> str:
    """A key number as it stands in a key, always ten digits."""
    return f"{key:010d}"


def text_of(seed: int, length: int) -> str:
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(length // 2))[:length]


def item_1k(key: str, variant: int) -> Json:
    """1 KB, nearly all of it in one string, which is what every system reads and prints fastest.

    `owner`, `city` and `score` can be index keys.
    """
    return {
        "pk": {"S": f"user-{key}"},
        "owner": {"S": f"owner-{key}"},
        "city": {"S": f"city-{variant}"},
        "score": {"N": str(variant * 17 + 0.5)},
        "counter": {"N": "0"},
        "text": {"S": text_of(variant, TEXT_LENGTH)},
    }


def item_nested(key: str, variant: int) -> Json:
    """1 KB in thirty small values of many types, some inside others."""
    address = {"street": {"S": text_of(variant, 40)}, "number": {"N": str(variant)}, "verified": {"BOOL": True}}
    return item_1k(key, variant) | {
        "tags": {"SS": ["blue", "green", "red"]},
        "address": {"M": address},
        "history": {"L": [{"N": str(n)} for n in range(variant, variant + 8)]},
        "lines": {"L": [{"S": text_of(variant + n, 60)} for n in range(9)]},
        "text": {"S": text_of(variant, 200)},
    }


def items_1k(count: int, item: Callable[[str, int], Json] = item_1k) -> Iterator[Json]:
    variants = [item("", variant) for variant in range(VARIANTS)]
    for key in map(number, range(count)):
        variant = variants[int(key) % VARIANTS]
        yield variant | {"pk": {"S": f"user-{key}"}, "owner": {"S": f"owner-{key}"}}


def items_250(partitions: int) -> Iterator[Json]:
    """Partitions of fifty items of 250 bytes."""
    for partition in range(partitions):
        for sort in range(PARTITION_ITEMS):
            yield {
                "pk": {"S": f"user-{number(partition)}"},
                "sk": {"S": f"order-{sort:06d}"},
                "total": {"N": str(sort * 1.25)},
                "text": {"S": text_of(sort, 205)},
            }


def recovery() -> Json:
    """A request that turns point-in-time recovery on."""
    wanted = {"PointInTimeRecoveryEnabled": True}
    return {"TableName": TABLE, "PointInTimeRecoverySpecification": wanted}


def table(*keys: str, indexes: dict[str, str] | None = None) -> Json:
    """A CreateTable request; `indexes` maps the partition key of each global index to its type."""
    types = dict.fromkeys(keys, "S") | (indexes or {})
    request: Json = {
        "TableName": TABLE,
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


# Requests are made from a key and a variant, so that all of them can be called alike.


def get(key: str, variant: int = 0, *, prefix: str = "user") -> Json:
    return {"TableName": TABLE, "Key": {"pk": {"S": f"{prefix}-{key}"}}}


def get_missing(key: str, variant: int) -> Json:
    return get(key, prefix="nobody")


def put(key: str, variant: int) -> Json:
    return {"TableName": TABLE, "Item": item_1k(key, variant)}


def update(key: str, variant: int) -> Json:
    return get(key) | {
        "UpdateExpression": "ADD #counter :one",
        "ConditionExpression": "attribute_exists(pk) AND #counter < :limit",
        "ExpressionAttributeNames": {"#counter": "counter"},
        "ExpressionAttributeValues": {":one": {"N": "1"}, ":limit": {"N": "1000000000"}},
        "ReturnValues": "UPDATED_NEW",
    }


def query(key: str, variant: int) -> Json:
    values = {":pk": {"S": f"user-{key}"}}
    return {"TableName": TABLE, "KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": values}


def query_owner(key: str) -> Json:
    return {
        "TableName": TABLE,
        "IndexName": "by-owner",
        "KeyConditionExpression": "#owner = :owner",
        "ExpressionAttributeNames": {"#owner": "owner"},
        "ExpressionAttributeValues": {":owner": {"S": f"owner-{key}"}},
    }


def transact_two(key: str, variant: int) -> Json:
    item = item_1k(key, variant)
    twin = item | {"pk": {"S": f"twin-{key}"}}
    return {
        "TransactItems": [{"Put": {"TableName": TABLE, "Item": each}} for each in (item, twin)],
        "ClientRequestToken": f"00000000-0000-4000-8000-00{key}",  # SDKs always send one
    }
