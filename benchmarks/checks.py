"""What keeps the numbers honest: looks at answers before a measurement and at the database after it."""

from __future__ import annotations

import random

from client import Client, Json, RequestFailed
from items import ITEMS, PARTITION_ITEMS, TEXT_LENGTH, get, number, query_owner

SAMPLE = 50
IN_FLIGHT_MAX = 1_024


def is_item_1k(answer: Json) -> bool:
    item = answer.get("Item", {})
    return len(item) == 6 and len(item["text"]["S"]) == TEXT_LENGTH


def is_item_nested(answer: Json) -> bool:
    item = answer.get("Item", {})
    return len(item) == 10 and len(item["lines"]["L"]) == 9 and item["address"]["M"]["verified"]["BOOL"]


def is_page(answer: Json) -> bool:
    return len(answer.get("Items", ())) == PARTITION_ITEMS


def is_counted(answer: Json) -> bool:
    return int(answer.get("Attributes", {}).get("counter", {}).get("N", 0)) > 0


def is_empty(answer: Json) -> bool:
    return answer == {}


# Checks after a measurement get the range of keys that were asked for, and return what is wrong, if anything.


def nothing(client: Client, keys: range) -> str | None:
    return None


def all_there(client: Client, keys: range, prefix: str = "user") -> str | None:
    lost = [key for key in sample(keys) if not is_item_1k(client.call("GetItem", get(key, prefix=prefix)))]
    return f"{len(lost)} of {SAMPLE} written items are missing, such as {prefix}-{lost[0]}" if lost else None


def twins_there(client: Client, keys: range) -> str | None:
    return all_there(client, keys) or all_there(client, keys, "twin")


def all_gone(client: Client, keys: range) -> str | None:
    left = [key for key in sample(keys) if client.call("GetItem", get(key))]
    return f"{len(left)} of {SAMPLE} deleted items are still there, such as {left[0]}" if left else None


def counters_add_up(client: Client, keys: range) -> str | None:
    """Requests on their way when the load stopped may have been counted without an answer."""
    answers = [client.call("GetItem", get(number(key))) for key in range(ITEMS)]
    total = sum(int(answer["Item"]["counter"]["N"]) for answer in answers)
    if len(keys) <= total <= len(keys) + IN_FLIGHT_MAX:
        return None
    return f"{len(keys)} updates were answered but {total} were counted"


def all_indexed(client: Client, keys: range) -> str | None:
    for key in sample(keys):
        try:
            count = client.call("Query", query_owner(key))["Count"]
        except RequestFailed as error:
            if error.is_unknown_operation:
                break
            raise
        if count != 1:
            return f"item {key} is in the index {count} times"
    return all_there(client, keys)


def sample(keys: range) -> list[str]:
    """Keys of early requests, each surely answered before the load stopped."""
    early = keys[: max(1, len(keys) // 2)]
    return [number(key) for key in random.Random(1).sample(early, min(SAMPLE, len(early)))]
