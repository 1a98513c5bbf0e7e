"""Runs tests/cases/expressions: an expression with its placeholders in, a result or an exact message out.

A case is on one line; what stands beside `cases` is shared by the whole file. `error` is the text of the older
wording, `newer` the other one where it differs; `bare` marks errors that have no envelope in the newer one.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hashrange.errors import ValidationException
from hashrange.expressions import KeyRange, prepare
from hashrange.values.attribute import check_attributes

FOLDER = Path(__file__).parents[2] / "cases" / "expressions"
EXPRESSIONS = ("update", "condition", "key_condition", "filter", "projection")
Case = dict[str, Any]


def cases(topic: str) -> list[Any]:
    content = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))
    shared = {name: value for name, value in content.items() if name != "cases"}
    return [
        pytest.param({**shared, **case}, id=f"{number}: {case.get('expression', '')}"[:80])
        for number, case in enumerate(content["cases"], 1)
    ]


def item_of(case: Case) -> Any:
    item = copy.deepcopy(case["item"])
    check_attributes(item)
    return item


def check(case: Case, evaluate: Callable[[], Any]) -> None:
    if "error" not in case:
        assert evaluate() == case.get("result")
        return
    with pytest.raises(ValidationException) as refusal:
        evaluate()
    error = refusal.value
    assert error.message == case["error"]
    assert error.newer == case.get("newer", case["error"])
    assert error.enveloped is not case.get("bare", False)


@pytest.mark.parametrize("case", cases("condition"))
def test_a_condition_holds_as_its_case_says(case: Case) -> None:
    def evaluate() -> bool:
        ready = prepare(names=case.get("names"), values=case.get("values"), condition=case["expression"])
        assert ready.condition is not None
        return ready.condition(item_of(case), ready.values)

    check(case, evaluate)


@pytest.mark.parametrize("case", cases("projection"))
def test_a_projection_keeps_what_its_case_says(case: Case) -> None:
    def evaluate() -> Any:
        ready = prepare(names=case.get("names"), projection=case["expression"])
        assert ready.projection is not None
        return ready.projection(item_of(case))

    check(case, evaluate)


@pytest.mark.parametrize("case", cases("update"))
def test_an_update_makes_what_its_case_says_and_leaves_the_old_item_alone(case: Case) -> None:
    def evaluate() -> Any:
        item = item_of(case)
        untouched = copy.deepcopy(item)
        ready = prepare(names=case.get("names"), values=case.get("values"), update=case["expression"])
        assert ready.update is not None
        try:
            return ready.update.apply(item, ready.values, exists=case.get("exists", True))
        finally:
            assert item == untouched

    check(case, evaluate)


@pytest.mark.parametrize("case", cases("returned_values"))
def test_the_targets_of_an_update_come_back_as_its_case_says(case: Case) -> None:
    item = item_of(case)
    ready = prepare(values=case.get("values"), update=case["expression"])
    assert ready.update is not None
    changed = ready.update.apply(item, ready.values, exists=case.get("exists", True))
    assert ready.update.project(item) == case["updated_old"]
    assert ready.update.project(changed) == case["updated_new"]


@pytest.mark.parametrize("case", cases("key_condition"))
def test_a_key_condition_means_the_range_of_its_case(case: Case) -> None:
    def evaluate() -> Any:
        key = case["key"]
        ready = prepare(names=case.get("names"), values=case.get("values"), key_condition=case["expression"])
        assert ready.key_condition is not None
        found = ready.key_condition.resolve(
            hash_names=tuple(key["hash"]), range_names=tuple(key["range"]), types=key["types"], values=ready.values
        )
        return as_json(found)

    check(case, evaluate)


def as_json(found: KeyRange) -> Any:
    return {
        "partition": list(found.partition_values),
        "sort": list(found.sort_values),
        "operator": found.operator,
        "operands": list(found.operands),
    }


@pytest.mark.parametrize("case", cases("placeholders"))
def test_placeholders_are_accounted_for_as_the_case_says(case: Case) -> None:
    def evaluate() -> None:
        prepare(
            names=case.get("names"),
            values=case.get("values"),
            value_expressions=tuple(case.get("value_expressions", ())),
            **{name: case[name] for name in EXPRESSIONS if name in case},
        )

    check(case, evaluate)
