"""The rules of values, as data: what a client writes, and what becomes of it or the exact message."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hashrange.errors import SerializationException, ValidationException, Wording
from hashrange.values import attribute, number, size

CASES = Path(__file__).parents[2] / "cases" / "values"
Case = dict[str, Any]


def cases(topic: str, *, label: str) -> list[Any]:
    loaded: list[Case] = json.loads((CASES / f"{topic}.json").read_text())
    return [pytest.param(case, id=f"{position} {case[label]}"[:80]) for position, case in enumerate(loaded)]


def assert_refused(case: Case, act: Callable[[], object]) -> None:
    """Both wordings are as the client sees them in an operation that uses the envelope."""
    with pytest.raises(ValidationException) as caught:
        act()
    assert caught.value.text(Wording.OLDER, envelope=True) == case["older"]
    assert caught.value.text(Wording.NEWER, envelope=True) == case["newer"]


@pytest.mark.parametrize("case", cases("numbers", label="written"))
def test_a_number_is_normalised_or_refused(case: Case) -> None:
    if "older" in case:
        assert_refused(case, lambda: number.normalise(case["written"]))
        return
    canonical = number.normalise(case["written"])
    assert canonical == case["canonical"]
    assert number.size_bytes(canonical) == case["size_bytes"]


@pytest.mark.parametrize("case", cases("arithmetic", label="operation"))
def test_arithmetic_is_exact_or_overflows(case: Case) -> None:
    operation = {"add": number.add, "subtract": number.subtract}[case["operation"]]
    if "result" in case:
        assert operation(case["a"], case["b"]) == case["result"]
        return
    with pytest.raises(ValidationException) as caught:
        operation(case["a"], case["b"])
    assert caught.value.text(Wording.NEWER, envelope=True) == case["message"]


@pytest.mark.parametrize("case", cases("values", label="claim"))
def test_a_value_is_normalised_or_refused(case: Case) -> None:
    value = copy.deepcopy(case["value"])
    if "malformed" in case:
        with pytest.raises(attribute.MalformedValue):
            attribute.check_value(value)
    elif "serialization" in case:
        with pytest.raises(SerializationException) as caught:
            attribute.check_value(value)
        assert caught.value.message == case["serialization"]
    elif "older" in case:
        assert_refused(case, lambda: attribute.check_value(value))
    else:
        assert attribute.check_value(value) == case["size_bytes"]
        assert value == case["becomes"]
        assert size.size_of(value) == case["size_bytes"]


@pytest.mark.parametrize("case", cases("items", label="claim"))
def test_an_item_is_measured_or_refused(case: Case) -> None:
    attributes = copy.deepcopy(case["attributes"])
    if "older" in case:
        assert_refused(case, lambda: attribute.check_attributes(attributes))
    else:
        assert attribute.check_attributes(attributes) == case["size_bytes"]
        assert size.size_of_attributes(attributes) == case["size_bytes"]
