"""KeyConditions: what they find, and the exact words of refusal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hashrange.errors import ValidationException, Wording
from unit.legacy.server import Server, server_with_tables, told

CASES = Path(__file__).parents[2] / "cases" / "legacy" / "key_conditions.json"
LOADED = json.loads(CASES.read_text(encoding="utf-8"))
Case = dict[str, Any]
ANN = {"artist": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "Ann"}]}}


@pytest.fixture(scope="module")
def server() -> Server:
    server = server_with_tables()
    for table, items in LOADED["items"].items():
        for item in items:
            server.put(table, item)
    return server


def shown(answer: Case, attribute: str) -> list[str]:
    return [text for item in answer["Items"] for text in item[attribute].values()]


@pytest.mark.parametrize("case", [pytest.param(case, id=json.dumps(case)[:100]) for case in LOADED["cases"]])
def test_key_conditions_find_or_are_refused(server: Server, case: Case) -> None:
    index = {"IndexName": case["index"]} if "index" in case else {}
    request = {"TableName": case["table"], "KeyConditions": case["conditions"], **index}
    if "error" not in case:
        assert shown(server.call("Query", **request), LOADED["shown"][case["table"]]) == case["finds"]
        return
    with pytest.raises(ValidationException) as caught:
        server.call("Query", **request)
    assert told(caught.value, "Query", Wording.OLDER) == case["error"]
    assert told(caught.value, "Query", Wording.NEWER) == case.get("newer", case["error"])


def test_key_conditions_go_with_a_filter_expression(server: Server) -> None:
    answer = server.call(
        "Query",
        TableName="songs",
        KeyConditions=ANN,
        FilterExpression="#p > :two",
        ExpressionAttributeNames={"#p": "plays"},
        ExpressionAttributeValues={":two": {"N": "2"}},
    )
    assert shown(answer, "title") == ["Bee", "Cy"]
    assert answer["ScannedCount"] == 4


def test_key_conditions_go_with_a_projection_expression(server: Server) -> None:
    answer = server.call("Query", TableName="songs", KeyConditions=ANN, ProjectionExpression="plays", Limit=1)
    assert answer["Items"] == [{"plays": {"N": "1"}}]


def test_key_conditions_page_like_expressions_do(server: Server) -> None:
    request = {"TableName": "songs", "KeyConditions": ANN, "Limit": 2, "ScanIndexForward": False}
    first = server.call("Query", **request)
    second = server.call("Query", **request, ExclusiveStartKey=first["LastEvaluatedKey"])
    assert shown(first, "title") + shown(second, "title") == ["Cy", "Bee", "Be", "Ad"]


def test_all_older_parameters_of_a_query_work_together(server: Server) -> None:
    answer = server.call(
        "Query",
        TableName="songs",
        KeyConditions=ANN,
        QueryFilter={
            "plays": {"ComparisonOperator": "LT", "AttributeValueList": [{"N": "2"}]},
            "label": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "y"}]},
        },
        ConditionalOperator="OR",
        AttributesToGet=["label", "plays"],
        Select="SPECIFIC_ATTRIBUTES",
    )
    assert answer["Items"] == [
        {"label": {"S": "x"}, "plays": {"N": "1"}},
        {"label": {"S": "y"}, "plays": {"N": "4"}},
    ]
    assert answer["ScannedCount"] == 4
