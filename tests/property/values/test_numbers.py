"""Numbers behave like `decimal` with 38 digits, and their bytes sort like them."""

from __future__ import annotations

from decimal import Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decoding import from_ordered, read_ordered
from hashrange.errors import ValidationException
from hashrange.values import number

WIDE = Context(prec=400)


@st.composite
def decimals(draw: st.DrawFn) -> Decimal:
    """Storable numbers over the whole range, close neighbours and plain small ones included."""
    small = st.integers(-1000, 1000).map(Decimal)
    digits = draw(st.one_of(st.integers(1, 999), st.integers(10**37, 10**38 - 1), st.integers(1, 10**38 - 1)))
    length = len(str(digits))
    exponent = draw(st.integers(-130 - length + 1, 125 - length + 1))
    wide = Decimal(digits).scaleb(exponent, WIDE)
    return draw(st.sampled_from([wide, wide.copy_negate(), draw(small), draw(small) / 8]))


canonicals = decimals().map(lambda value: number.normalise(str(value)))


@given(decimals())
def test_normalising_keeps_the_value_and_is_done_once(value: Decimal) -> None:
    canonical = number.normalise(str(value))
    assert Decimal(canonical) == value
    assert number.normalise(canonical) == canonical
    assert "E" not in canonical
    assert not canonical.startswith("+")


@given(decimals(), st.integers(0, 50), st.integers(0, 50), st.sampled_from(["", "+"]))
def test_every_spelling_of_a_number_is_the_same_number(value: Decimal, before: int, after: int, plus: str) -> None:
    plain = format(value.copy_abs(), "f")
    padded = "0" * before + plain + ("" if "." in plain else ".") + "0" * after
    sign = "-" if value < 0 else plus
    assert number.normalise(sign + padded) == number.normalise(str(value))


@given(st.text(alphabet="0123456789+-.eE x", max_size=12))
def test_what_is_accepted_is_what_decimal_reads(text: str) -> None:
    try:
        canonical = number.normalise(text)
    except ValidationException:
        return
    assert Decimal(canonical) == Decimal(text)


@given(canonicals, canonicals)
def test_ordered_bytes_sort_like_numbers(a: str, b: str) -> None:
    left, right = number.ordered(a), number.ordered(b)
    assert (left > right) - (left < right) == number.compare(a, b) == int(Decimal(a).compare(Decimal(b)))


@given(canonicals, canonicals, st.binary(max_size=3), st.binary(max_size=3))
def test_what_follows_a_number_never_changes_the_order(a: str, b: str, x: bytes, y: bytes) -> None:
    if a != b:
        assert (number.ordered(a) + x < number.ordered(b) + y) == (Decimal(a) < Decimal(b))


@given(canonicals, st.binary(max_size=3))
def test_ordered_bytes_give_the_number_back(canonical: str, rest: bytes) -> None:
    data = number.ordered(canonical)
    assert len(data) <= 22
    assert from_ordered(data) == canonical
    assert read_ordered(b"\x00" + data + rest, 1) == (canonical, 1 + len(data))


def storable(value: Decimal) -> bool:
    digits = value.normalize(WIDE).as_tuple().digits
    return not value or (len(digits) <= 38 and -130 <= value.adjusted() <= 125)


@given(canonicals, canonicals)
def test_arithmetic_is_exact_or_refused(a: str, b: str) -> None:
    for operation, exact in (
        (number.add, WIDE.add(Decimal(a), Decimal(b))),
        (number.subtract, WIDE.subtract(Decimal(a), Decimal(b))),
    ):
        if storable(exact):
            result = operation(a, b)
            assert Decimal(result) == exact
            assert number.normalise(result) == result
        else:
            with pytest.raises(ValidationException, match="Number overflow"):
                operation(a, b)
