"""What statements find and what they change, as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parents[2] / "cases" / "partiql"


def load(topic: str) -> Any:
    return json.loads((CASES / f"{topic}.json").read_text())


def cases(topic: str, label: str) -> list[Any]:
    return [pytest.param(case, id=f"{number} {case[label]}"[:80]) for number, case in enumerate(load(topic))]


@pytest.fixture(scope="module")
def dataset(new_statements: Any) -> Any:
    """Some tables with indexes, which reads leave as they are."""
    statements = new_statements()
    content = load("dataset")
    for name, definition in content["tables"].items():
        statements.create_table(name, **definition)
    for name, items in content["items"].items():
        for item in items:
            statements.put(item, name)
    return statements


@pytest.mark.parametrize("case", cases("conditions", "condition"))
def test_a_condition_lets_these_items_through(dataset: Any, case: Any) -> None:
    parameters = case.get("parameters", [])
    whole = dataset.items(f"SELECT sk FROM \"table\" WHERE pk = 'a' AND ({case['condition']})", *parameters)
    assert [item["sk"]["S"] for item in whole] == case["sk"]


@pytest.mark.parametrize("case", cases("conditions", "condition"))
def test_a_scan_finds_the_same(dataset: Any, case: Any) -> None:
    parameters = case.get("parameters", [])
    found = dataset.items(f"SELECT pk, sk FROM \"table\" WHERE ({case['condition']}) AND NOT pk <> 'a'", *parameters)
    assert [item["sk"]["S"] for item in found] == case["sk"]


@pytest.mark.parametrize("case", cases("select", "statement"))
def test_a_select_finds_these_items_or_is_refused(dataset: Any, refused: Any, case: Any) -> None:
    request = (case["statement"], *case.get("parameters", []))
    members = {"ConsistentRead": True} if case.get("consistent") else {}
    if "message" in case:
        refusal = refused(dataset.execute, *request, **members)
        assert (refusal.code, refusal.message) == (case["code"], case["message"])
        return
    found = dataset.items(*request, **members)
    if case.get("any_order"):
        found, case["items"] = sorted(found, key=str), sorted(case["items"], key=str)
    assert found == case["items"]


@pytest.mark.parametrize("case", cases("writes", "statement"))
def test_a_write_leaves_this_behind_or_is_refused(statements: Any, refused: Any, case: Any) -> None:
    before = load("written-item")
    statements.put(before)
    if "message" in case:
        refusal = refused(statements.execute, case["statement"])
        assert (refusal.code, refusal.message) == (case["code"], case["message"])
    else:
        assert statements.execute(case["statement"])["Items"] == case.get("items", [])
    changed = {**before, **case.get("changed", {})}
    after = None if case.get("deleted") else {name: value for name, value in changed.items() if value is not None}
    assert statements.get("k", "k") == after
