"""Checked attributes are normalised, measured alike by both counts, and survive being stored."""

from __future__ import annotations

import copy
from decimal import Decimal
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from hashrange.errors import ClientError
from hashrange.values import attribute, binary, number, size
from hashrange.values.item import Item, stored_size
from hashrange.values.types import TYPE_CODES

texts = st.text(max_size=5)
blobs = st.binary(max_size=4).map(binary.encode)
numbers = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**6), max_value=10**6, places=2).map(str)

scalars = st.one_of(
    st.builds(lambda content: {"S": content}, texts),
    st.builds(lambda content: {"N": content}, numbers),
    st.builds(lambda content: {"B": content}, blobs),
    st.builds(lambda content: {"BOOL": content}, st.booleans()),
    st.just({"NULL": True}),
    st.builds(lambda content: {"SS": content}, st.lists(texts, min_size=1, max_size=4, unique=True)),
    st.builds(lambda content: {"NS": content}, st.lists(numbers, min_size=1, max_size=4, unique_by=Decimal)),
    st.builds(lambda content: {"BS": content}, st.lists(blobs, min_size=1, max_size=4, unique=True)),
)
names = st.text(min_size=1, max_size=4)
wire_values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.builds(lambda content: {"L": content}, st.lists(inner, max_size=3)),
        st.builds(lambda content: {"M": content}, st.dictionaries(names, inner, max_size=3)),
    ),
    max_leaves=8,
)
items: st.SearchStrategy[dict[str, Any]] = st.dictionaries(names, wire_values, max_size=4)


@given(items)
def test_both_counts_of_a_size_agree(attributes: dict[str, Any]) -> None:
    checked = attribute.check_attributes(attributes)
    assert checked == size.size_of_attributes(attributes)
    assert checked == sum(len(name.encode()) + size.size_of(value) for name, value in attributes.items())


@given(items, items)
def test_an_item_grows_by_what_its_changed_attributes_do(before: dict[str, Any], after: dict[str, Any]) -> None:
    grown = attribute.check_attributes(after) - attribute.check_attributes(before)
    assert size.growth_of(before, after, before.keys() | after.keys()) == grown


@given(items)
def test_normalising_twice_changes_nothing(attributes: dict[str, Any]) -> None:
    first = attribute.check_attributes(attributes)
    before = copy.deepcopy(attributes)
    assert attribute.check_attributes(attributes) == first
    assert attributes == before


@given(st.lists(texts, min_size=1, unique=True), st.randoms(use_true_random=False))
def test_a_string_set_has_one_spelling(members: list[str], random: Any) -> None:
    value = {"SS": random.sample(members, len(members))}
    attribute.check_value(value)
    assert value == {"SS": sorted(members, key=str.encode)}


@given(st.lists(numbers, min_size=1, unique_by=Decimal), st.randoms(use_true_random=False))
def test_a_number_set_has_one_spelling(members: list[str], random: Any) -> None:
    value = {"NS": random.sample(members, len(members))}
    attribute.check_value(value)
    assert value == {"NS": [number.normalise(member) for member in sorted(members, key=Decimal)]}


@given(st.lists(blobs, min_size=1, unique=True), st.randoms(use_true_random=False))
def test_a_binary_set_has_one_spelling(members: list[str], random: Any) -> None:
    value = {"BS": random.sample(members, len(members))}
    attribute.check_value(value)
    assert value == {"BS": sorted(members, key=binary.decode)}


@given(items)
def test_an_item_survives_being_stored(attributes: dict[str, Any]) -> None:
    size_bytes = attribute.check_attributes(attributes)
    stored = Item.of(attributes, size_bytes, 5).stored()
    assert stored_size(stored) == size_bytes
    assert Item.load(stored).attributes == attributes


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*sorted(TYPE_CODES), "X"]), inner, max_size=2)
    ),
    max_leaves=6,
)


@given(json_values)
def test_any_json_is_a_value_or_refused(value: Any) -> None:
    """Whatever arrives is measured, is the client's error, or is malformed: nothing else ever escapes."""
    sent = orjson.dumps(value)
    try:
        size_bytes = attribute.check_value(value)
    except (ClientError, attribute.MalformedValue):
        return
    assert size.size_of(value) == size_bytes, sent
