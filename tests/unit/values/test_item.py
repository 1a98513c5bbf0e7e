"""An item and its stored form."""

from __future__ import annotations

import pytest

from hashrange.values.compare import compare
from hashrange.values.item import Item, stored_size
from hashrange.values.types import LONG_NAMES, TYPE_CODES, Attributes, AttributeValue

ATTRIBUTES: Attributes = {"pk": {"S": "é"}, "n": {"N": "1"}}


def test_a_stored_item_is_a_header_and_its_json() -> None:
    stored = Item.of(ATTRIBUTES, 7, 1_800_000_000_000_000).stored()
    assert stored[:13] == b"\x01" + (7).to_bytes(4, "little") + (1_800_000_000_000_000).to_bytes(8, "little")
    assert stored[13:] == '{"pk":{"S":"é"},"n":{"N":"1"}}'.encode()
    assert stored_size(stored) == 7


def test_a_loaded_item_is_the_one_that_was_stored() -> None:
    item = Item.load(Item.of(ATTRIBUTES, 7, 42).stored())
    assert (item.attributes, item.size_bytes, item.written_at_micros) == (ATTRIBUTES, 7, 42)
    assert item.stored() == Item.of(ATTRIBUTES, 7, 42).stored()


def test_json_is_parsed_at_most_once_and_only_on_demand() -> None:
    broken = Item.load(Item(b"not json", 1, 2).stored())
    assert broken.json == b"not json"
    item = Item.load(Item.of(ATTRIBUTES, 7, 42).stored())
    assert item.attributes is item.attributes


def test_an_unknown_format_is_not_read() -> None:
    with pytest.raises(AssertionError, match="item format 2"):
        Item.load(b"\x02" + bytes(12) + b"{}")


@pytest.mark.parametrize(
    ("a", "b", "order"),
    [
        ({"S": "a"}, {"S": "b"}, -1),
        ({"S": "b"}, {"S": "a"}, 1),
        ({"S": "a"}, {"S": "a"}, 0),
        ({"S": "ﬀ"}, {"S": "😀"}, -1),
        ({"N": "9"}, {"N": "10"}, -1),
        ({"N": "-1.5"}, {"N": "-2"}, 1),
        ({"N": "1"}, {"N": "1"}, 0),
        ({"B": "AA=="}, {"B": "/w=="}, -1),
        ({"B": "AAA="}, {"B": "AA=="}, 1),
        ({"S": "1"}, {"N": "1"}, None),
        ({"BOOL": True}, {"BOOL": False}, None),
        ({"SS": ["a"]}, {"SS": ["b"]}, None),
        ({"L": []}, {"L": []}, None),
    ],
)
def test_only_scalars_of_one_type_have_an_order(a: AttributeValue, b: AttributeValue, order: int | None) -> None:
    assert compare(a, b) == order


def test_there_are_ten_types() -> None:
    assert len(TYPE_CODES) == len(LONG_NAMES) == 10
