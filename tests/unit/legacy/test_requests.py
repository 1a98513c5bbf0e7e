"""AttributesToGet, and whole requests: which parameters go together and which broken rule speaks first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hashrange.errors import ResourceNotFoundException, ValidationException, Wording
from unit.legacy.server import Server, server_with_tables, told

CASES = Path(__file__).parents[2] / "cases" / "legacy"
KEY = {"pk": {"S": "k"}}
Case = dict[str, Any]


def load(topic: str) -> Case:
    loaded: Case = json.loads((CASES / f"{topic}.json").read_text(encoding="utf-8"))
    return loaded


PROJECTION = load("projection")
EVERY = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [KEY["pk"]]}}


@pytest.fixture(scope="module")
def server() -> Server:
    server = server_with_tables()
    server.put("plain", PROJECTION["item"])
    return server


def read(server: Server, operation: str, names: list[str]) -> Any:
    """The one item, as an operation shows it."""
    if operation == "BatchGetItem":
        wanted = {"plain": {"Keys": [KEY], "AttributesToGet": names}}
        return server.call(operation, RequestItems=wanted)["Responses"]["plain"][0]
    which: Case = {"GetItem": {"Key": KEY}, "Query": {"KeyConditions": EVERY}, "Scan": {}}
    answer = server.call(operation, TableName="plain", AttributesToGet=names, **which[operation])
    return answer["Item"] if operation == "GetItem" else answer["Items"][0]


@pytest.mark.parametrize("operation", ["GetItem", "BatchGetItem", "Query", "Scan"])
@pytest.mark.parametrize(
    "case", [pytest.param(case, id=",".join(case["names"]) or "empty") for case in PROJECTION["cases"]]
)
def test_attributes_to_get_are_shown_or_refused(server: Server, case: Case, operation: str) -> None:
    if "shows" in case:
        assert read(server, operation, case["names"]) == case["shows"]
        return
    with pytest.raises(ValidationException) as caught:
        read(server, operation, case["names"])
    for wording in Wording:
        assert told(caught.value, operation, wording) == case["error"]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{case['operation']} {case['why']} {position}")
        for topic in ("requests", "order")
        for position, case in enumerate(load(topic)["cases"])
    ],
)
def test_a_request_is_refused(server: Server, case: Case) -> None:
    with pytest.raises(ValidationException) as caught:
        server.call(case["operation"], **case["request"])
    assert told(caught.value, case["operation"], Wording.OLDER) == case["error"]
    assert told(caught.value, case["operation"], Wording.NEWER) == case.get("newer", case["error"])


def test_the_item_size_is_told_before_expected(server: Server) -> None:
    item = {**KEY, "a": {"S": "x" * 409_600}}
    with pytest.raises(ValidationException, match="Item size has exceeded the maximum allowed size"):
        server.call("PutItem", TableName="plain", Item=item, Expected={"a": {}})


def test_the_table_is_looked_up_after_everything_in_the_request(server: Server) -> None:
    with pytest.raises(ResourceNotFoundException):
        server.call("PutItem", TableName="nowhere", Item=KEY, Expected={"a": {"Exists": False}})
    with pytest.raises(ResourceNotFoundException):
        server.call("Query", TableName="nowhere", KeyConditions=EVERY)


def test_a_missing_item_stays_missing_whatever_is_asked_of_it(server: Server) -> None:
    assert server.call("GetItem", TableName="plain", Key={"pk": {"S": "nobody"}}, AttributesToGet=["pk"]) == {}


def test_one_table_of_a_batch_may_show_less_than_the_other(server: Server) -> None:
    server.put("songs", {"artist": {"S": "a"}, "title": {"S": "t"}, "plays": {"N": "1"}})
    wanted = {
        "plain": {"Keys": [KEY], "AttributesToGet": ["a"]},
        "songs": {"Keys": [{"artist": {"S": "a"}, "title": {"S": "t"}}]},
    }
    responses = server.call("BatchGetItem", RequestItems=wanted)["Responses"]
    assert responses["plain"] == [{"a": {"N": "1"}}]
    assert len(responses["songs"][0]) == 3
