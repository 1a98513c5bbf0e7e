"""Expected, QueryFilter and ScanFilter: what they hold for, and the exact words of refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hashrange.errors import ConditionalCheckFailedException, ValidationException, Wording
from hashrange.expressions.legacy.conditions import FILTER_CONDITIONS_MAX
from unit.legacy.server import Server, server_with_tables, told

CASES = Path(__file__).parents[2] / "cases" / "legacy"
ENVELOPE = ValidationException.ENVELOPE
KEY = {"pk": {"S": "k"}}
Case = dict[str, Any]


def load(topic: str) -> Case:
    loaded: Case = json.loads((CASES / f"{topic}.json").read_text(encoding="utf-8"))
    return loaded


COMPARISONS, COMBINATIONS, EXPECTED = load("comparisons"), load("combinations"), load("expected")


def cases(topic: Case) -> list[Any]:
    return [
        pytest.param(case, id=f"{position} {json.dumps(case)}"[:80]) for position, case in enumerate(topic["cases"])
    ]


@pytest.fixture(scope="module")
def server() -> Server:
    return server_with_tables()


def store(server: Server, item: Case) -> None:
    server.put("plain", {**KEY, **item})


def given(conditions: Case | None, conditional_operator: str | None, parameter: str) -> Case:
    members: Case = {} if conditions is None else {parameter: conditions}
    return members if conditional_operator is None else {**members, "ConditionalOperator": conditional_operator}


def scan_filter(server: Server, conditions: Case | None, operator: str | None = None) -> bool:
    return bool(server.call("Scan", TableName="plain", **given(conditions, operator, "ScanFilter"))["Count"])


def query_filter(server: Server, conditions: Case | None, operator: str | None = None) -> bool:
    key = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [KEY["pk"]]}}
    filters = given(conditions, operator, "QueryFilter")
    return bool(server.call("Query", TableName="plain", KeyConditions=key, **filters)["Count"])


def expected(server: Server, conditions: Case | None, operator: str | None = None) -> bool:
    try:
        server.call("UpdateItem", TableName="plain", Key=KEY, **given(conditions, operator, "Expected"))
    except ConditionalCheckFailedException:
        return False
    return True


Asked = Callable[..., bool]
PARAMETERS = [
    pytest.param(scan_filter, "Scan", id="ScanFilter"),
    pytest.param(query_filter, "Query", id="QueryFilter"),
    pytest.param(expected, "UpdateItem", id="Expected"),
]


def condition(case: Case) -> Case:
    members = {"ComparisonOperator": case["operator"]}
    return members if case["arguments"] is None else {**members, "AttributeValueList": case["arguments"]}


def assert_refused(case: Case, operation: str, act: Callable[[], object]) -> None:
    """`error` is the older text and `newer` the newer one, both without the envelope that writes put around it."""
    with pytest.raises(ValidationException) as caught:
        act()
    prefix = ENVELOPE if operation in ("PutItem", "UpdateItem", "DeleteItem") and not case.get("bare") else ""
    assert told(caught.value, operation, Wording.OLDER) == case["error"]
    assert told(caught.value, operation, Wording.NEWER) == prefix + str(case.get("newer", case["error"]))


@pytest.mark.parametrize(("asked", "operation"), PARAMETERS)
@pytest.mark.parametrize("case", cases(COMPARISONS))
def test_a_comparison_holds_for_exactly_these_attributes(
    server: Server, case: Case, asked: Asked, operation: str
) -> None:
    store(server, COMPARISONS["item"])
    attributes = {*COMPARISONS["item"], "missing"}
    holding = {attribute for attribute in attributes if asked(server, {attribute: condition(case)})}
    assert holding == (set(case["holds_for"]) if "holds_for" in case else attributes - set(case["holds_for_all_but"]))


@pytest.mark.parametrize(("asked", "operation"), PARAMETERS)
@pytest.mark.parametrize("case", cases(load("arguments")))
def test_arguments_are_refused(server: Server, case: Case, asked: Asked, operation: str) -> None:
    assert_refused(case, operation, lambda: asked(server, {"a": condition(case)}))


@pytest.mark.parametrize(("asked", "operation"), PARAMETERS)
@pytest.mark.parametrize("case", cases(COMBINATIONS))
def test_conditions_combine(server: Server, case: Case, asked: Asked, operation: str) -> None:
    store(server, COMBINATIONS["item"])
    operator = case.get("conditional_operator")
    if "error" in case:
        assert_refused(case, operation, lambda: asked(server, case["conditions"], operator))
    else:
        assert asked(server, case["conditions"], operator) == case["holds"]


@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "DeleteItem"])
@pytest.mark.parametrize("case", cases(EXPECTED))
def test_a_write_happens_only_as_expected(server: Server, case: Case, operation: str) -> None:
    server.empty("plain", "pk")
    if case.get("stored", True):
        server.put("plain", EXPECTED["item"])
    before = server.items("plain")
    target: Case = {"Item": {**KEY, "new": {"N": "1"}}} if operation == "PutItem" else {"Key": KEY}
    if operation == "UpdateItem":
        target["AttributeUpdates"] = {"new": {"Value": {"N": "1"}}}

    def act() -> None:
        server.call(operation, TableName="plain", Expected=case["expected"], **target)

    if "error" in case:
        assert_refused(case, operation, act)
        assert server.items("plain") == before
    elif case["holds"]:
        act()
        assert operation == "DeleteItem" or server.items("plain") != before
    else:
        with pytest.raises(ConditionalCheckFailedException):
            act()
        assert server.items("plain") == before


def test_a_failed_expectation_shows_the_item_when_asked(server: Server) -> None:
    item = {**KEY, "a": {"S": "x"}}
    server.put("plain", item)
    with pytest.raises(ConditionalCheckFailedException) as caught:
        server.call(
            "DeleteItem",
            TableName="plain",
            Key=KEY,
            Expected={"a": {"Exists": False}},
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert "Item" in caught.value.members


def test_a_scan_may_filter_on_keys(server: Server) -> None:
    store(server, {})
    assert scan_filter(server, {"pk": {"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [{"S": "k"}]}})
    assert not scan_filter(server, {"pk": {"ComparisonOperator": "NE", "AttributeValueList": [{"S": "k"}]}})


def test_a_filter_has_a_limit(server: Server) -> None:
    store(server, {})
    absent = {"ComparisonOperator": "NULL"}
    assert scan_filter(server, {f"a{number}": absent for number in range(FILTER_CONDITIONS_MAX)})
    with pytest.raises(ValidationException, match="too many conditions; condition count: 301"):
        scan_filter(server, {f"a{number}": absent for number in range(FILTER_CONDITIONS_MAX + 1)})


def test_many_options_of_in_cost_little_on_each_item(server: Server) -> None:
    options = [{"N": str(number)} for number in range(20_000)]
    for number in range(100):
        server.put("scores", {"player": {"S": "many"}, "points": {"N": str(number)}, "n": {"N": str(-number)}})
    within = {"ComparisonOperator": "IN", "AttributeValueList": options}
    assert server.call("Scan", TableName="scores", ScanFilter={"points": within})["Count"] == 100
    assert server.call("Scan", TableName="scores", ScanFilter={"n": within})["Count"] == 1
