"""Conditions see the tags of tables, and those that requests bring."""

from __future__ import annotations

from typing import Any

import pytest

from unit.policies.guarded import Guarded, allow, deny, table_arn
from unit.policies.test_authorise import KEY, is_allowed

NEW: dict[str, Any] = {
    "TableName": "new",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def tag(key: str, value: str) -> dict[str, str]:
    return {"Key": key, "Value": value}


def test_the_tags_of_a_table_decide(engine: Guarded) -> None:
    own = {"StringEquals": {"aws:ResourceTag/Team": "${aws:username}"}}
    engine.user("ada", allow("GetItem", "Query", Condition=own))
    assert not is_allowed(engine, "GetItem", TableName="table", Key=KEY)
    engine.call("TagResource", ResourceArn=table_arn(), Tags=[tag("team", "bob")])
    assert not is_allowed(engine, "GetItem", TableName="table", Key=KEY)
    engine.call("TagResource", ResourceArn=table_arn(), Tags=[tag("team", "ada")])
    assert is_allowed(engine, "GetItem", TableName="table", Key=KEY)
    query = {"KeyConditionExpression": "#d = :d", "ExpressionAttributeNames": {"#d": "day"}}
    query["ExpressionAttributeValues"] = {":d": {"S": "mon"}}  # type: ignore[assignment]
    assert is_allowed(engine, "Query", TableName="table", IndexName="by-day", **query)


def test_the_tags_of_a_request_decide(engine: Guarded) -> None:
    engine.user("ada", allow("CreateTable", "TagResource", Condition={"StringEquals": {"aws:RequestTag/team": "ada"}}))
    assert not is_allowed(engine, "CreateTable", **NEW)
    assert not is_allowed(engine, "CreateTable", **NEW, Tags=[tag("team", "bob")])
    assert is_allowed(engine, "CreateTable", **NEW, Tags=[tag("Team", "ada"), tag("cost", "1")])


@pytest.mark.parametrize(("names", "allowed"), [(["cost"], True), (["cost", "team"], False)])
def test_the_names_of_tags_decide(engine: Guarded, names: list[str], allowed: bool) -> None:
    protected = {"ForAnyValue:StringEquals": {"aws:TagKeys": ["team"]}}
    engine.user("ada", allow("*"), deny("TagResource", "UntagResource", Condition=protected))
    assert is_allowed(engine, "UntagResource", ResourceArn=table_arn(), TagKeys=names) is allowed
    tags = [tag(name, "x") for name in names]
    assert is_allowed(engine, "TagResource", ResourceArn=table_arn(), Tags=tags) is allowed
