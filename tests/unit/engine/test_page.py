"""Where a page of whole items ends, whatever sizes they have: items are taken many at once, and some are put back."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from harness import Engine
from hashrange.engine.page import AT_ONCE_FIRST, AT_ONCE_ITEMS_MAX
from hashrange.limits import PAGE_BYTES_MAX
from hashrange.values.size import size_of_attributes

SIZES = (1, 1, 1, 200, 200, 5_000, 60_000, 390_000)
QUERY = {
    "TableName": "table",
    "KeyConditionExpression": "pk = :pk",
    "ExpressionAttributeValues": {":pk": {"S": "a"}},
}


def expected_page(items: list[dict[str, Any]], limit: int | None) -> tuple[list[Any], Any]:
    """The items of a page and the last evaluated key, if one item is looked at after the other."""
    size_bytes = 0
    for count, item in enumerate(items, 1):
        size_bytes += size_of_attributes(item)
        is_full = size_bytes >= PAGE_BYTES_MAX and count < len(items)
        if count == limit or is_full:
            return items[:count], {"pk": item["pk"], "sk": item["sk"]}
        if size_bytes >= PAGE_BYTES_MAX:
            return items[:count], None
    return items, None


@pytest.mark.parametrize("seed", range(8))
def test_a_page_ends_where_it_would_if_items_were_taken_one_by_one(seed: int) -> None:
    random = Random(seed)
    engine = Engine()
    engine.create_table()
    items = [
        {"pk": {"S": "a"}, "sk": {"S": f"{number:04}"}, "text": {"S": "x" * random.choice(SIZES)}}
        for number in range(random.choice((AT_ONCE_FIRST, AT_ONCE_FIRST + AT_ONCE_ITEMS_MAX, 150)))
    ]
    for item in (*items, {"pk": {"S": "b"}, "sk": {"S": "0"}}):
        engine.call("PutItem", TableName="table", Item=item)
    for reverse in (False, True):
        for limit in (None, 1, AT_ONCE_FIRST, AT_ONCE_FIRST + 1, len(items), len(items) + 1):
            rest = items[::-1] if reverse else items
            key = None
            while rest:
                page, last_key = expected_page(rest, limit)
                start: dict[str, Any] = {} if key is None else {"ExclusiveStartKey": key}
                most: dict[str, Any] = {} if limit is None else {"Limit": limit}
                answer = engine.call("Query", **QUERY, ScanIndexForward=not reverse, **most, **start)
                assert answer["Items"] == page
                assert answer.get("LastEvaluatedKey") == last_key
                rest, key = rest[len(page) :] if last_key else [], last_key
