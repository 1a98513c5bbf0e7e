"""Keys as bytes: endings, escapes and partition hashes."""

from __future__ import annotations

import pytest

from hashrange.values import ordered


def test_a_part_escapes_zeros_and_ends() -> None:
    assert ordered.part("S", "a\x00b") == b"a\x00\xffb\x00\x01"
    assert ordered.part("B", "AAE=") == b"\x00\xff\x01\x00\x01"
    assert ordered.part("S", "") == b"\x00\x01"
    assert ordered.part("N", "1") == ordered.key_bytes("N", "1")


def test_the_last_component_is_the_plain_value() -> None:
    assert ordered.key_bytes("S", "é") == b"\xc3\xa9"
    assert ordered.key_bytes("B", "AAH/") == b"\x00\x01\xff"


def test_after_is_the_end_of_the_range_under_a_prefix() -> None:
    assert ordered.after(b"ab") == b"ac"
    assert ordered.after(b"a\xff\xff") == b"b"
    with pytest.raises(AssertionError):
        ordered.after(b"\xff")


def test_partition_hashes_stay_what_they_are() -> None:
    """They are on disk: a change here loses every item."""
    assert ordered.partition_hash([("S", "a")]).hex() == "b8f7f3e76281bb818f4bf53beb04c08d"
    assert ordered.partition_hash([("N", "1"), ("B", "AA==")]).hex() == "15576eff9ec24d49773655474ca678e9"


def test_type_and_boundaries_are_part_of_a_partition_hash() -> None:
    keys: list[list[tuple[str, str]]] = [
        [("S", "1")],
        [("N", "1")],
        [("B", "MQ==")],
        [("S", "ab"), ("S", "c")],
        [("S", "a"), ("S", "bc")],
        [("S", "abc")],
        [("S", "a\x00\x01S"), ("S", "")],
        [("S", "a"), ("S", "\x00\x01")],
    ]
    assert len({ordered.partition_hash(key) for key in keys}) == len(keys)
    assert all(len(ordered.partition_hash(key)) == 16 for key in keys)
