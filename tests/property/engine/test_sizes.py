"""Limits that go by size: a page ends at one megabyte, and an item collection at the size that was set."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.engine.database import DatabaseSettings
from hashrange.errors import ItemCollectionSizeLimitExceededException
from property.engine.agreement import TABLE, key_of
from property.engine.client import Client, examples, in_memory, on_disk
from property.engine.stories import LOCAL, Schema, stories
from property.engine.table_model import Index, TableModel
from property.engine.values_model import Attributes, item_size, read_units

PAGE_BYTES = 1024 * 1024
GLOBAL = Index("by-g", ("g",), ("h",))


def check_pages(client: Client, sizes: list[int]) -> None:
    """Every page but the last ends with the item that brings it to a megabyte."""
    schema = Schema(stories("N", "N").types, (GLOBAL,))
    client.call("CreateTable", **schema.creation())
    items = []
    for position, size in enumerate(sizes):
        item: Attributes = {"pk": {"S": "a"}, "sk": {"N": str(position)}, "g": {"S": "a"}, "h": {"N": str(position)}}
        item["t"] = {"S": "x" * (size - item_size(item) - 1)}
        client.call("PutItem", TableName=TABLE, Item=item)
        items.append(item)
    for source in ({"TableName": TABLE}, {"TableName": TABLE, "IndexName": "by-g"}):
        name = "g" if "IndexName" in source else "pk"
        query: dict[str, Any] = {
            **source,
            "KeyConditionExpression": f"{name} = :p",
            "ExpressionAttributeValues": {":p": {"S": "a"}},
        }
        check_listing(client, "Scan", source, items)
        check_listing(client, "Query", query, items)
        check_listing(client, "Query", {**query, "ScanIndexForward": False}, items[::-1])


def check_listing(client: Client, operation: str, members: dict[str, Any], items: list[Attributes]) -> None:
    pages = list(client.pages(operation, **members, ReturnConsumedCapacity="TOTAL"))
    assert [item for page in pages for item in page["Items"]] == items
    for page in pages:
        sizes = [item_size(item) for item in page["Items"]]
        assert sum(sizes[:-1]) < PAGE_BYTES
        assert page is pages[-1] or sum(sizes) >= PAGE_BYTES
        assert page["ConsumedCapacity"]["CapacityUnits"] == read_units(sum(sizes), consistent=False)


SIZES = st.lists(st.sampled_from([200, 100_000, 209_715, 262_144, 349_525, 349_526, 409_600]), max_size=8)


@examples(15)
@given(SIZES)
def test_a_page_ends_with_the_item_that_brings_it_to_a_megabyte(sizes: list[int]) -> None:
    with in_memory() as client:
        check_pages(client, sizes)


@examples(5)
@given(SIZES)
def test_a_page_on_disk_ends_with_the_item_that_brings_it_to_a_megabyte(sizes: list[int]) -> None:
    with on_disk() as client:
        check_pages(client, sizes)


def collection_bytes(model: TableModel, partition: str) -> int:
    entries = [*model.entries(None), *(entry for index in model.indexes for entry in model.entries(index))]
    return sum(item_size(entry) for entry in entries if entry["pk"] == {"S": partition})


ITEMS = stories("N", "N", misfits=0).items


@examples(60)
@given(st.sampled_from(LOCAL), st.lists(ITEMS, max_size=15), st.sampled_from([100, 1_000, 6_000]))
def test_a_full_item_collection_takes_only_what_does_not_make_it_larger(
    index: Index, items: list[Attributes], bytes_max: int
) -> None:
    schema = Schema(stories("N", "N").types, (index,))
    with in_memory(DatabaseSettings(item_collection_bytes_max=bytes_max)) as client:
        client.call("CreateTable", **schema.creation())
        model = schema.model()
        for item in items:
            partition = item["pk"]["S"]
            old, before = model.get(item), collection_bytes(model, partition)
            model.write(item, model.outcome(("put", item, None)))
            after = collection_bytes(model, partition)
            if after > max(before, bytes_max):
                model.write(item, old)
                with pytest.raises(ItemCollectionSizeLimitExceededException):
                    client.call("PutItem", TableName=TABLE, Item=item)
            else:
                client.call("PutItem", TableName=TABLE, Item=item)
            found = client.call("GetItem", TableName=TABLE, Key=key_of(item)).get("Item")
            assert found == model.get(item)
        assert client.problems() == []
