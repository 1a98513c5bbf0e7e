"""Filter patterns match what EventBridge's would; the cases are in tests/cases/triggers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hashrange.errors import InvalidParameterValueException
from hashrange.triggers.patterns import compiled, compiled_one

CASES = json.loads((Path(__file__).parents[2] / "cases" / "triggers" / "patterns.json").read_text(encoding="utf-8"))


def text_of(case: dict[str, Any]) -> str:
    return case["text"] if "text" in case else json.dumps(case["pattern"])


@pytest.mark.parametrize("case", CASES, ids=text_of)
def test_a_pattern_matches_what_it_should(case: dict[str, Any]) -> None:
    if case.get("invalid"):
        with pytest.raises(InvalidParameterValueException) as caught:
            compiled_one(text_of(case))
        assert caught.value.message == "Invalid filter pattern definition."
        return
    matches = compiled_one(text_of(case))
    assert [record for record in case["matches"] if not matches(record)] == []
    assert [record for record in case.get("misses", []) if matches(record)] == []


def test_one_of_several_patterns_is_enough() -> None:
    matches = compiled(('{"a": ["x"]}', '{"b": ["y"]}'))
    assert matches({"a": "x"})
    assert matches({"b": "y"})
    assert not matches({"a": "y"})


def nested(levels: int) -> str:
    return '{"a":' * levels + "[1]" + "}" * levels


def test_a_pattern_that_is_too_long_or_too_deep_is_refused() -> None:
    for text in (json.dumps({"a": ["x" * 4096]}), nested(300), nested(600)):
        with pytest.raises(InvalidParameterValueException):
            compiled_one(text)


def test_a_pattern_as_deep_as_an_item_can_be_matches() -> None:
    matches = compiled_one(nested(80))
    assert matches(json.loads(nested(80)))
    assert not matches({})


def test_a_wildcard_does_not_try_every_combination() -> None:
    matches = compiled_one(json.dumps({"a": [{"wildcard": "*a" * 1000 + "*b"}]}))
    assert matches({"a": "a" * 1000 + "b"})
    assert not matches({"a": "a" * 400_000})
