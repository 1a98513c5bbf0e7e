"""Packed keys sort like the values they hold, alone and one after the other."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from decoding import read_part
from hashrange.errors import SerializationException
from hashrange.values import binary, number, ordered

Key = tuple[tuple[str, str], ...]

texts = st.text(alphabet=st.one_of(st.sampled_from("\x00\x01ab\xff\uffff\U0001f600"), st.characters(codec="utf-8")))
blobs = st.binary(max_size=8) | st.lists(st.sampled_from([0, 1, 254, 255]), max_size=6).map(bytes)
numbers = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=3)

strings = st.tuples(st.just("S"), texts)
binaries = st.tuples(st.just("B"), blobs.map(binary.encode))
canonicals = st.tuples(st.just("N"), numbers.map(lambda value: number.normalise(str(value))))
SCALARS = {"S": strings, "B": binaries, "N": canonicals}

key_pairs = st.lists(st.sampled_from("SBN"), min_size=1, max_size=3).flatmap(
    lambda codes: st.tuples(st.tuples(*(SCALARS[c] for c in codes)), st.tuples(*(SCALARS[c] for c in codes)))
)


def python_value(type_code: str, content: str) -> Any:
    """Something Python orders as DynamoDB orders the value."""
    if type_code == "N":
        return Decimal(content)
    return content.encode() if type_code == "S" else binary.decode(content)


def values(key: Key) -> list[Any]:
    return [python_value(*component) for component in key]


def packed(key: Key) -> bytes:
    return b"".join(ordered.part(*component) for component in key)


def packed_with_open_end(key: Key) -> bytes:
    return packed(key[:-1]) + ordered.key_bytes(*key[-1])


@given(key_pairs)
@example(((("S", "a"), ("S", "")), (("S", "a\x00"), ("S", ""))))
@example(((("B", ""), ("N", "1")), (("B", "AA=="), ("N", "0"))))
def test_packed_keys_sort_like_their_values(pair: tuple[Key, Key]) -> None:
    a, b = pair
    for pack in (packed, packed_with_open_end):
        assert (pack(a) < pack(b)) == (values(a) < values(b))
        assert (pack(a) == pack(b)) == (a == b)


@given(key_pairs)
def test_parts_are_read_back_one_after_the_other(pair: tuple[Key, Key]) -> None:
    key = pair[0]
    data = b"head" + packed(key)
    position = 4
    for type_code, content in key:
        read, position = read_part(type_code, data, position)
        assert read == content
    assert position == len(data)


@given(st.binary(max_size=6), st.binary(max_size=6))
def test_after_ends_exactly_the_keys_with_a_prefix(prefix: bytes, other: bytes) -> None:
    prefix = b"\x01" + prefix
    end = ordered.after(prefix)
    for key in (prefix, prefix + other, b"\x01" + other):
        assert (prefix <= key < end) == key.startswith(prefix)


@given(key_pairs)
def test_partition_hashes_differ_with_the_key(pair: tuple[Key, Key]) -> None:
    a, b = pair
    assert (ordered.partition_hash(a) == ordered.partition_hash(b)) == (a == b)


@given(blobs)
def test_binaries_are_read_back(data: bytes) -> None:
    text = binary.encode(data)
    assert binary.decode(text) == data
    assert binary.size_bytes(text) == len(data)


@given(st.text(alphabet="AQgwBZ09+/=-_ \n", max_size=12))
def test_only_the_one_spelling_of_a_binary_is_read(text: str) -> None:
    try:
        data = binary.decode(text)
    except SerializationException:
        return
    assert binary.encode(data) == text
