"""What keeps the numbers honest: looks at answers before a measurement and at the database after it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

import items
from client import Client, Json

SAMPLE = 25
IN_FLIGHT_MAX = 1_024


# Looks at one answer: whether it is right for this key.


def is_item(answer: Json, key: int) -> bool:
    return bool(answer.get("Item") == items.item_1k(key))


def is_counted_item(answer: Json, key: int) -> bool:
    """The item, but for attributes that a workload changes."""
    return bool(without_counter(answer.get("Item", {})) == without_counter(items.item_1k(key)))


def without_counter(item: Json) -> Json:
    return {name: value for name, value in item.items() if name != "counter"}


def is_nested(answer: Json, key: int) -> bool:
    item = answer.get("Item", {})
    return bool(item | {"tags": {"SS": sorted(item["tags"]["SS"])}} == items.item_nested(key))


def is_empty(answer: Json, key: int) -> bool:
    """Nothing is in it. Some tell of capacity without being asked, which is no reason to leave them out."""
    return not any(value for name, value in answer.items() if name not in ("ConsumedCapacity", "ItemCollectionMetrics"))


def is_counted(answer: Json, key: int) -> bool:
    return int(answer.get("Attributes", {}).get("counter", {}).get("N", 0)) > 0


def is_read_or_done(answer: Json, key: int) -> bool:
    return is_empty(answer, key) or is_counted_item(answer, key)


@dataclass(frozen=True)
class IsPage:
    """Orders with these sort keys, or the one that the key asks for, in order, with all or only these attributes."""

    sorts: range | None
    attributes: tuple[str, ...] = ()

    def __call__(self, answer: Json, key: int) -> bool:
        found = answer.get("Items", [])
        expected = [items.order("", sort) for sort in self.sorts or (key % items.PARTITION_ITEMS,)]
        return len(found) == len(expected) and all(map(self.is_same, found, expected))

    def is_same(self, found: Json, expected: Json) -> bool:
        names = self.attributes or ("sk", "total", "state", "text")
        complete = set(found) == ({*names} if self.attributes else {*names, "pk"})
        return complete and all(is_same_value(found[name], expected[name]) for name in names)


def is_same_value(found: Json, expected: Json) -> bool:
    """Numbers may be printed in more than one way."""
    if "N" in expected:
        return float(found["N"]) == float(expected["N"])
    return found == expected


def is_city(answer: Json, key: int) -> bool:
    first = key // items.CITY_ITEMS * items.CITY_ITEMS
    expected = {f"user-{items.number(each)}" for each in range(first, first + items.CITY_ITEMS)}
    return {item["pk"]["S"] for item in answer.get("Items", ())} == expected


def is_megabyte(answer: Json, key: int) -> bool:
    """A page of a scan ends at a megabyte, which different systems count a little differently."""
    return 800 <= len(answer.get("Items", ())) <= 1_100 and "LastEvaluatedKey" in answer


def is_batch(answer: Json, key: int) -> bool:
    found = answer.get("Responses", {}).get(items.TABLE, ())
    return len(found) == items.BATCH_READS and not answer.get("UnprocessedKeys")


def is_all_processed(answer: Json, key: int) -> bool:
    return not answer.get("UnprocessedItems")


# Looks at the database after a measurement: gets the numbers of the requests that were sent, says what is wrong.


def nothing(client: Client, requests: range) -> str | None:
    return None


def all_there(client: Client, requests: range) -> str | None:
    return missing(client, sample(requests))


def families_there(client: Client, requests: range, count: int = items.BATCH_WRITES) -> str | None:
    chosen = sample(requests)
    return missing(client, [items.family(key)[0] for key in chosen] + [items.family(key)[count - 1] for key in chosen])


def missing(client: Client, keys: Iterable[int]) -> str | None:
    lost = [key for key in keys if not is_item(client.call("GetItem", items.get_consistent(key)), key)]
    return f"{len(lost)} of {SAMPLE} written items are missing or wrong, such as {lost[0]}" if lost else None


def all_gone(client: Client, requests: range) -> str | None:
    left = [key for key in sample(requests) if client.call("GetItem", items.get_consistent(key))]
    return f"{len(left)} of {SAMPLE} deleted items are still there, such as {left[0]}" if left else None


def all_indexed(client: Client, requests: range) -> str | None:
    for key in sample(requests):
        count = client.call("Query", items.query_index(key, "owner"))["Count"]
        if count != 1:
            return f"item {key} is in the index {count} times"
    return all_there(client, requests)


def still_whole(client: Client, requests: range) -> str | None:
    """After overwriting: the items are those that were written, and none is half of one and half of another."""
    keys = random.Random(2).sample(range(items.ITEMS), SAMPLE)
    broken = [key for key in keys if not is_counted_item(client.call("GetItem", items.get_consistent(key)), key)]
    return f"{len(broken)} of {SAMPLE} overwritten items are wrong, such as {broken[0]}" if broken else None


def counter_total(client: Client) -> int:
    request = {
        "TableName": items.TABLE,
        "ConsistentRead": True,
        "ProjectionExpression": "#counter",
        "ExpressionAttributeNames": {"#counter": "counter"},
    }
    return sum(int(item["counter"]["N"]) for page in client.pages("Scan", request) for item in page["Items"])


def sample(requests: range) -> list[int]:
    """Early requests, each surely answered before the load stopped."""
    early = requests[: max(1, len(requests) // 2)]
    return random.Random(1).sample(early, min(SAMPLE, len(early)))
