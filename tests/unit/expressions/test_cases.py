"""Runs tests/cases/expressions: an expression with its placeholders in, a result or an exact message out.

A case is on one line. `item` and `key` may be given for the whole file. `error` is the text of the older wording;
`newer` the other one where it differs; `bare` marks errors that have no envelope in the newer one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hashrange.errors import ValidationException
from hashrange.expressions import Prepared, prepare
from hashrange.values.attribute import check_attributes

FOLDER = Path(__file__).parents[2] / "cases" / "expressions"
Case = dict[str, Any]


def cases(topic: str) -> Iterator[Any]:
    content = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))
    shared = {name: value for name, value in content.items() if name != "cases"}
    for number, case in enumerate(content["cases"], 1):
        yield pytest.param({**shared, **case}, id=f"{topic}-{number}-{case.get('expression', '')[:60]}")


def prepared(case: Case, **expressions: str) -> Prepared:
    return prepare(names=case.get("names"), values=case.get("values"), **expressions)


def item_of(case: Case) -> Any:
    item = json.loads(json.dumps(case["item"]))
    check_attributes(item)
    return item


def check_refused(case: Case, error: ValidationException) -> None:
    assert error.message == case["error"]
    assert error.newer == case.get("newer", case["error"])
    assert error.enveloped is not case.get("bare", False)


@pytest.mark.parametrize("case", cases("condition"))
def test_a_condition_answers_as_its_case_says(case: Case) -> None:
    item = item_of(case)
    try:
        ready = prepared(case, condition=case["expression"])
        assert ready.condition is not None
        result = ready.condition(item, ready.values)
    except ValidationException as error:
        assert "error" in case, error.message
        check_refused(case, error)
    else:
        assert result is case.get("result", "an error")
