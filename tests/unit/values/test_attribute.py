"""Sizes at the limits, which are too long for a file of cases."""

from __future__ import annotations

import pytest

from hashrange.errors import ValidationException, Wording
from hashrange.limits import ITEM_SIZE_BYTES_MAX
from hashrange.values import attribute, size
from hashrange.values.types import Attributes

LONG_NAME = "1 validation error detected: Attribute name is too large, must be less than 65536 bytes"


def test_400_kb_is_names_and_values_together() -> None:
    names_and_key = len("pk") + len("a") + len("data")
    attributes: Attributes = {"pk": {"S": "a"}, "data": {"S": "x" * (409_600 - names_and_key)}}
    assert attribute.check_attributes(attributes) == ITEM_SIZE_BYTES_MAX == 409_600


def test_400_kb_of_two_byte_characters_is_half_as_many() -> None:
    assert attribute.check_attributes({"d": {"S": "é" * 204_800}}) == 409_601


def test_400_kb_of_binary_is_counted_before_base64() -> None:
    text = "AAAA" * 136_533 + "AA=="
    assert attribute.check_attributes({"b": {"B": text}}) == 1 + 409_600


def test_400_kb_of_list_counts_its_overhead() -> None:
    attributes: Attributes = {"l": {"L": [{"BOOL": True} for _ in range(204_798)]}}
    assert attribute.check_attributes(attributes) == 1 + 3 + 2 * 204_798 == 409_600
    assert size.size_of_attributes(attributes) == 409_600


@pytest.mark.parametrize("name", ["n" * 65_535, "é" * 32_767 + "n"])
def test_a_name_of_65535_bytes_is_accepted_at_any_depth(name: str) -> None:
    assert attribute.check_attributes({name: {"NULL": True}}) == 65_536
    assert attribute.check_attributes({"m": {"M": {name: {"NULL": True}}}}) == 65_541


@pytest.mark.parametrize("name", ["n" * 65_536, "é" * 32_768])
def test_a_name_of_65536_bytes_is_refused_at_any_depth(name: str) -> None:
    nested: Attributes = {"m": {"M": {name: {"NULL": True}}}}
    for attributes in ({name: {"NULL": True}}, nested):
        with pytest.raises(ValidationException) as caught:
            attribute.check_attributes(attributes)
        assert caught.value.text(Wording.NEWER, envelope=True) == LONG_NAME


def test_a_refused_item_names_its_first_bad_attribute_in_request_order() -> None:
    with pytest.raises(ValidationException, match="numeric value: second"):
        attribute.check_attributes({"z": {"S": "fine"}, "b": {"N": "second"}, "a": {"N": "third"}})
