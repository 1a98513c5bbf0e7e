"""The items, tables and requests of the workloads."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

TABLE = "benchmark"
ITEMS = 1_000
PARTITIONS, PARTITION_ITEMS = 100, 50
VARIANTS = 16  # different items, so that no answer can be kept for the next request
BIOGRAPHY_LENGTH, ATTRIBUTES = 750, 10
WORDS = "the quick brown fox jumps over a lazy dog while seven wizards mix their potions".split()


def number(key: int) -> str:
    """A key number as it stands in a key, always ten digits."""
    return f"{key:010d}"


def text_of(seed: int, length: int) -> str:
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(length // 2))[:length]


def item_1k(key: str, variant: int) -> Json:
    """1 KB by DynamoDB's count, of the types applications use; `owner`, `city` and `score` can be index keys."""
    return {
        "pk": {"S": f"user-{key}"},
        "owner": {"S": f"owner-{key}"},
        "city": {"S": f"city-{variant}"},
        "score": {"N": str(variant * 17 + 0.5)},
        "counter": {"N": "0"},
        "active": {"BOOL": True},
        "tags": {"SS": ["blue", "green", "red"]},
        "address": {"M": {"street": {"S": text_of(variant, 40)}, "number": {"N": str(variant)}}},
        "history": {"L": [{"N": str(n)} for n in range(variant, variant + 8)]},
        "biography": {"S": text_of(variant + 100, BIOGRAPHY_LENGTH)},
    }


def items_1k(count: int) -> Iterator[Json]:
    variants = [item_1k("", variant) for variant in range(VARIANTS)]
    for key in range(count):
        names = {"pk": {"S": f"user-{number(key)}"}, "owner": {"S": f"owner-{number(key)}"}}
        yield variants[key % VARIANTS] | names


def items_flat(count: int) -> Iterator[Json]:
    """1 KB in a single string: the shape that costs least to parse and print."""
    for key in range(count):
        yield {"pk": {"S": f"user-{number(key)}"}, "text": {"S": text_of(key % VARIANTS, 1_000)}}


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
