"""Requests and what they are answered with, from tests/cases/validation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hashrange.errors import SerializationException, ValidationException, Wording
from hashrange.validation.shape import InputShape, load

CASES = Path(__file__).parents[2] / "cases" / "validation"


def cases(topic: str) -> list[Any]:
    loaded = json.loads((CASES / f"{topic}.json").read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["name"]) for case in loaded]


def shape_of(case: dict[str, Any]) -> InputShape:
    return load(case.get("service", "dynamodb"))[case["operation"]]


@pytest.mark.parametrize("case", cases("serialization"))
def test_a_wrong_type_is_told(case: dict[str, Any]) -> None:
    with pytest.raises(SerializationException) as caught:
        shape_of(case).explain(case["request"])
    assert caught.value.message == case["serialization"]


@pytest.mark.parametrize("case", cases("coercion"))
def test_a_request_is_cleaned(case: dict[str, Any]) -> None:
    before = json.dumps(case["request"])
    assert shape_of(case).explain(case["request"]) == case["cleaned"]
    assert json.dumps(case["request"]) == before, "the caller's request stays as it is"


@pytest.mark.parametrize("case", cases("coercion"))
def test_a_cleaned_request_is_plausible(case: dict[str, Any]) -> None:
    assert shape_of(case).plausible(case["cleaned"])


@pytest.mark.parametrize("case", cases("constraints") + cases("order"))
def test_broken_constraints_are_told_in_both_wordings(case: dict[str, Any]) -> None:
    with pytest.raises(ValidationException) as caught:
        shape_of(case).explain(case["request"])
    assert caught.value.text(Wording.OLDER, envelope=True) == case["older"]
    assert caught.value.text(Wording.NEWER, envelope=True) == case.get("newer", case["older"])


@pytest.mark.parametrize("case", cases("constraints") + cases("order"))
def test_a_request_that_breaks_a_constraint_is_not_plausible(case: dict[str, Any]) -> None:
    assert not shape_of(case).plausible(case["request"])
