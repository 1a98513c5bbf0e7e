"""Numbers meant to hurt, and the shape of their ordered bytes."""

from __future__ import annotations

import time

import pytest

from decoding import from_ordered
from hashrange.errors import ValidationException
from hashrange.values import number

MEGABYTE = 1024 * 1024


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1" * MEGABYTE, number.OVERFLOW),
        ("1" + "0" * MEGABYTE, number.OVERFLOW),
        ("0." + "0" * MEGABYTE + "1", number.UNDERFLOW),
        ("0." + "1" * MEGABYTE, number.TOO_MANY_DIGITS),
        ("1e" + "9" * MEGABYTE, number.OVERFLOW),
        ("1e-" + "9" * MEGABYTE, number.UNDERFLOW),
        ("0." + "0" * MEGABYTE, number.UNDERFLOW),
    ],
    ids=["digits", "zeros", "small", "exact", "exponent", "negative exponent", "zero"],
)
def test_an_endless_number_is_refused_quickly(text: str, message: str) -> None:
    started = time.perf_counter()
    with pytest.raises(ValidationException) as caught:
        number.normalise(text)
    assert caught.value.message == message
    assert time.perf_counter() - started < 1.0


def test_a_long_way_to_write_a_small_number_is_understood() -> None:
    assert number.normalise("0" * MEGABYTE + "1") == "1"
    assert number.normalise("1e" + "0" * MEGABYTE + "2") == "100"
    assert number.normalise("0." + "0" * 1000 + "5e1001") == "5"
    assert number.normalise("5" + "0" * 1000 + "e-1000") == "5"


@pytest.mark.parametrize(
    ("canonical", "data"),
    [
        ("0", "8000"),
        ("1", "c10200"),
        ("-1", "3efdff"),
        ("10", "c11100"),
        ("100", "c20200"),
        ("123", "c2022400"),
        ("0.5", "c05100"),
        ("1" + "0" * 125, "ff1100"),
        ("0." + "0" * 129 + "1", "800200"),
    ],
)
def test_ordered_bytes_are_short_and_stay_what_they_are(canonical: str, data: str) -> None:
    assert number.ordered(canonical).hex() == data
    assert from_ordered(bytes.fromhex(data)) == canonical


def test_the_longest_number_takes_22_bytes() -> None:
    assert len(number.ordered("9" * 38)) == 21
    assert len(number.ordered("9" * 37 + ".9")) == 22
