"""Fine-grained access: conditions see all keys, attributes and parameters that a request is about."""

from __future__ import annotations

from typing import Any

import pytest

from harness import ApiError
from unit.policies.guarded import Guarded, allow, deny, table_arn
from unit.policies.test_authorise import is_allowed, item

NUMBERED = {
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "N"}],
}


def key(partition: str, sort: str = "1") -> dict[str, Any]:
    return item(partition, sort)


def put(partition: str) -> dict[str, Any]:
    return {"Put": {"TableName": "table", "Item": item(partition)}}


OWN = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}}

LEADING: list[tuple[str, dict[str, Any], bool]] = [
    ("GetItem", {"Key": key("ada")}, True),
    ("GetItem", {"Key": key("bob")}, False),
    ("GetItem", {"Key": key("bob"), "Keys": [key("ada")]}, False),
    ("PutItem", {"Item": item("ada")}, True),
    ("PutItem", {"Item": item("bob")}, False),
    ("UpdateItem", {"Key": key("bob"), "Item": item("ada")}, False),
    ("DeleteItem", {"Key": key("bob")}, False),
    ("BatchGetItem", {"RequestItems": {"table": {"Keys": [key("ada"), key("ada", "2")]}}}, True),
    ("BatchGetItem", {"RequestItems": {"table": {"Keys": [key("ada"), key("bob")]}}}, False),
    ("BatchWriteItem", {"RequestItems": {"table": [{"PutRequest": {"Item": item("ada")}}]}}, True),
    (
        "BatchWriteItem",
        {"RequestItems": {"table": [{"PutRequest": {"Item": item("ada")}}, {"DeleteRequest": {"Key": key("bob")}}]}},
        False,
    ),
    (
        "BatchWriteItem",
        {"RequestItems": {"table": [{"DeleteRequest": {"Key": key("bob"), "Item": item("ada")}}]}},
        False,
    ),
    ("TransactWriteItems", {"TransactItems": [put("ada")]}, True),
    ("TransactWriteItems", {"TransactItems": [put("ada"), put("bob")]}, False),
    ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "table", "Key": key("bob")}}]}, False),
    (
        "Query",
        {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "ada"}}},
        True,
    ),
    (
        "Query",
        {
            "KeyConditionExpression": ":p = #p AND sk > :s",
            "ExpressionAttributeNames": {"#p": "pk"},
            "ExpressionAttributeValues": {":p": {"S": "bob"}, ":s": {"S": "ada"}},
        },
        False,
    ),
    ("Query", {"KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "bob"}]}}}, False),
    (
        "Query",
        {
            "IndexName": "by-day",
            "KeyConditionExpression": "#d = :d",
            "ExpressionAttributeNames": {"#d": "day"},
            "ExpressionAttributeValues": {":d": {"S": "ada"}},
        },
        True,
    ),
    ("ExecuteStatement", {"Statement": "SELECT * FROM \"table\" WHERE pk = 'ada'"}, True),
    ("ExecuteStatement", {"Statement": "SELECT * FROM \"table\" WHERE pk IN ['ada', 'bob']"}, False),
    ("ExecuteStatement", {"Statement": 'SELECT * FROM "table" WHERE pk = ?', "Parameters": [{"S": "bob"}]}, False),
    ("ExecuteStatement", {"Statement": "INSERT INTO \"table\" VALUE {'pk': 'bob', 'sk': '1'}"}, False),
    ("ExecuteStatement", {"Statement": "UPDATE \"table\" SET a = 1 WHERE sk = 'ada' AND pk = 'bob'"}, False),
    ("ExecuteStatement", {"Statement": "DELETE FROM \"table\" WHERE pk = 'bob' AND sk = '1'"}, False),
    (
        "ExecuteTransaction",
        {"TransactStatements": [{"Statement": "DELETE FROM \"table\" WHERE pk = 'bob' AND sk = '1'"}]},
        False,
    ),
]


def with_table(operation: str, members: dict[str, Any]) -> dict[str, Any]:
    single = ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan")
    return {"TableName": "table", **members} if operation in single else members


@pytest.mark.parametrize(("operation", "members", "allowed"), LEADING)
def test_users_reach_their_own_partition_only(
    engine: Guarded, operation: str, members: dict[str, Any], allowed: bool
) -> None:
    engine.user("ada", allow("*", Condition=OWN))
    assert is_allowed(engine, operation, **with_table(operation, members)) is allowed


def test_a_number_is_the_same_however_it_is_written(engine: Guarded) -> None:
    engine.create_table("numbered", **NUMBERED)
    secret = {"ForAnyValue:StringEquals": {"dynamodb:LeadingKeys": ["7"]}}
    engine.user("ada", allow("*"), deny("*", Condition=secret))
    for written in ("7", "7.0", "+7", "0.7e1", "07"):
        assert not is_allowed(engine, "GetItem", TableName="numbered", Key={"pk": {"N": written}})
    assert is_allowed(engine, "GetItem", TableName="numbered", Key={"pk": {"N": "70"}})


def test_a_value_that_is_only_right_once_converted_is_asked_about_again(engine: Guarded) -> None:
    engine.user("ada", allow("PutItem", Condition=OWN))
    for partition, allowed in (("ada", True), ("bob", False)):
        members = {"TableName": "table", "Item": item(partition, flag={"BOOL": "true"})}
        assert is_allowed(engine, "PutItem", **members) is allowed


PUBLIC = {"ForAllValues:StringEquals": {"dynamodb:Attributes": ["pk", "sk", "score"]}}

NAMED: list[tuple[str, dict[str, Any], bool]] = [
    ("GetItem", {"Key": key("a"), "ProjectionExpression": "pk, score"}, True),
    ("GetItem", {"Key": key("a"), "ProjectionExpression": "pk, secret"}, False),
    (
        "GetItem",
        {"Key": key("a"), "ProjectionExpression": "#s.score", "ExpressionAttributeNames": {"#s": "secret"}},
        False,
    ),
    ("GetItem", {"Key": key("a"), "ProjectionExpression": "score.secret"}, True),
    ("GetItem", {"Key": key("a"), "AttributesToGet": ["secret"]}, False),
    ("PutItem", {"Item": item("a", score={"N": "1"})}, True),
    ("PutItem", {"Item": item("a", secret={"N": "1"})}, False),
    ("PutItem", {"Item": item("a"), "ConditionExpression": "attribute_not_exists(secret)"}, False),
    ("PutItem", {"Item": item("a"), "Expected": {"secret": {"Exists": False}}}, False),
    (
        "UpdateItem",
        {"Key": key("a"), "UpdateExpression": "SET score = :s", "ExpressionAttributeValues": {":s": {"N": "1"}}},
        True,
    ),
    ("UpdateItem", {"Key": key("a"), "UpdateExpression": "SET score = secret"}, False),
    ("UpdateItem", {"Key": key("a"), "UpdateExpression": "REMOVE secret"}, False),
    ("UpdateItem", {"Key": key("a"), "AttributeUpdates": {"secret": {"Action": "DELETE"}}}, False),
    ("DeleteItem", {"Key": key("a"), "ConditionExpression": "attribute_exists(secret)"}, False),
    ("Scan", {"FilterExpression": "attribute_exists(secret)"}, False),
    ("Scan", {"ScanFilter": {"secret": {"ComparisonOperator": "NOT_NULL"}}}, False),
    ("Scan", {"ProjectionExpression": "score"}, True),
    (
        "Query",
        {
            "KeyConditionExpression": "pk = :p",
            "FilterExpression": "size(secret) > :p",
            "ExpressionAttributeValues": {":p": {"S": "a"}},
        },
        False,
    ),
    ("BatchGetItem", {"RequestItems": {"table": {"Keys": [key("a")], "ProjectionExpression": "secret"}}}, False),
    ("BatchWriteItem", {"RequestItems": {"table": [{"PutRequest": {"Item": item("a", secret={"S": ""})}}]}}, False),
    (
        "TransactWriteItems",
        {"TransactItems": [{"Put": {"TableName": "table", "Item": item("a", secret={"S": ""})}}]},
        False,
    ),
    ("ExecuteStatement", {"Statement": "SELECT score FROM \"table\" WHERE pk = 'a'"}, True),
    ("ExecuteStatement", {"Statement": "SELECT secret FROM \"table\" WHERE pk = 'a'"}, False),
    ("ExecuteStatement", {"Statement": "SELECT score FROM \"table\" WHERE pk = 'a' AND secret = 1"}, False),
    ("ExecuteStatement", {"Statement": "INSERT INTO \"table\" VALUE {'pk': 'a', 'sk': '1', 'secret': 1}"}, False),
    ("ExecuteStatement", {"Statement": "UPDATE \"table\" SET score = secret WHERE pk = 'a' AND sk = '1'"}, False),
]


@pytest.mark.parametrize(("operation", "members", "allowed"), NAMED)
def test_every_attribute_that_a_request_names_is_seen(
    engine: Guarded, operation: str, members: dict[str, Any], allowed: bool
) -> None:
    engine.user("ada", allow("*", Condition=PUBLIC))
    assert is_allowed(engine, operation, **with_table(operation, members)) is allowed


PARAMETERS: list[tuple[str, str, dict[str, Any], str | None]] = [
    ("Select", "GetItem", {"Key": key("a")}, "ALL_ATTRIBUTES"),
    ("Select", "GetItem", {"Key": key("a"), "ProjectionExpression": "pk"}, "SPECIFIC_ATTRIBUTES"),
    ("Select", "Scan", {}, "ALL_ATTRIBUTES"),
    ("Select", "Scan", {"IndexName": "by-day"}, "ALL_PROJECTED_ATTRIBUTES"),
    ("Select", "Scan", {"Select": "COUNT"}, "COUNT"),
    ("Select", "Scan", {"ProjectionExpression": "pk"}, "SPECIFIC_ATTRIBUTES"),
    ("Select", "ExecuteStatement", {"Statement": 'SELECT * FROM "table"'}, "ALL_ATTRIBUTES"),
    ("Select", "PutItem", {"Item": item("a")}, None),
    ("ReturnValues", "PutItem", {"Item": item("a")}, "NONE"),
    ("ReturnValues", "PutItem", {"Item": item("a"), "ReturnValues": "ALL_OLD"}, "ALL_OLD"),
    ("ReturnValues", "PutItem", {"Item": item("a"), "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}, "ALL_OLD"),
    ("ReturnValues", "GetItem", {"Key": key("a")}, None),
    ("ReturnConsumedCapacity", "GetItem", {"Key": key("a")}, "NONE"),
    ("ReturnConsumedCapacity", "GetItem", {"Key": key("a"), "ReturnConsumedCapacity": "TOTAL"}, "TOTAL"),
    ("EnclosingOperation", "PutItem", {"Item": item("a")}, None),
    ("EnclosingOperation", "TransactWriteItems", {"TransactItems": [put("a")]}, "TransactWriteItems"),
    (
        "EnclosingOperation",
        "ExecuteTransaction",
        {"TransactStatements": [{"Statement": "SELECT * FROM \"table\" WHERE pk = 'a' AND sk = '1'"}]},
        "ExecuteTransaction",
    ),
    ("FullTableScan", "ExecuteStatement", {"Statement": 'SELECT * FROM "table"'}, "true"),
    ("FullTableScan", "ExecuteStatement", {"Statement": "SELECT * FROM \"table\" WHERE sk = 'a'"}, "true"),
    ("FullTableScan", "ExecuteStatement", {"Statement": "SELECT * FROM \"table\" WHERE pk = 'a'"}, "false"),
    ("FullTableScan", "Scan", {}, None),
    ("LeadingKeys", "Scan", {}, None),
]


@pytest.mark.parametrize(("name", "operation", "members", "value"), PARAMETERS)
def test_a_parameter_has_the_value_that_takes_effect(
    engine: Guarded, name: str, operation: str, members: dict[str, Any], value: str | None
) -> None:
    wanted = {"Null": {f"dynamodb:{name}": "true"}} if value is None else {"StringEquals": {f"dynamodb:{name}": value}}
    members = with_table(operation, members)
    engine.user("ada", allow("*", Condition=wanted))
    assert is_allowed(engine, operation, **members)
    engine.user("ada", allow("*"), deny("*", Condition=wanted))
    assert not is_allowed(engine, operation, **members)


GENERAL: list[tuple[str, str, str]] = [
    ("StringEquals", "aws:username", "ada"),
    ("StringEquals", "aws:userid", "ada"),
    ("ArnEquals", "aws:PrincipalArn", "arn:aws:iam::111111111111:user/ada"),
    ("StringEquals", "aws:PrincipalAccount", "111111111111"),
    ("StringEquals", "aws:ResourceAccount", "111111111111"),
    ("StringEquals", "aws:RequestedRegion", "us-east-1"),
    ("Bool", "aws:SecureTransport", "false"),
    ("DateGreaterThan", "aws:CurrentTime", "2000-01-01"),
    ("NumericGreaterThan", "aws:EpochTime", "946684800"),
    ("StringEquals", "aws:SourceIp", "test"),
]


@pytest.mark.parametrize(("operator", "name", "value"), GENERAL)
def test_a_condition_may_ask_who_sends_a_request_and_how(engine: Guarded, operator: str, name: str, value: str) -> None:
    engine.user("ada", allow("*", Condition={operator: {name: value}}))
    assert is_allowed(engine, "GetItem", TableName="table", Key=key("a"))
    engine.user(
        "ada",
        allow("*", Condition={operator: {name: value.replace("a", "x").replace("1", "9")}, "Null": {name: "true"}}),
    )
    assert not is_allowed(engine, "GetItem", TableName="table", Key=key("a"))


def test_partition_keys_of_several_attributes_are_seen_one_by_one(engine: Guarded) -> None:
    engine.create_table(
        "several",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "a", "b")],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "both",
                "KeySchema": [{"AttributeName": name, "KeyType": "HASH"} for name in ("a", "b")],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    members = {
        "TableName": "several",
        "IndexName": "both",
        "KeyConditionExpression": "a = :a AND b = :b",
        "ExpressionAttributeValues": {":a": {"S": "1"}, ":b": {"S": "2"}},
    }
    for name, value in (("First", "1"), ("Second", "2")):
        engine.user("ada", allow("*", Condition={"StringEquals": {f"dynamodb:{name}PartitionKeyValues": value}}))
        assert is_allowed(engine, "Query", **members)
    engine.user("ada", allow("*", Condition={"Null": {"dynamodb:ThirdPartitionKeyValues": "true"}}))
    assert is_allowed(engine, "Query", **members)


def test_what_a_request_may_not_see_stays_hidden_when_a_condition_fails(engine: Guarded) -> None:
    engine.call("PutItem", TableName="table", Item=item("ada", secret={"S": "x"}))
    quiet = {"StringEqualsIfExists": {"dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"]}}
    engine.user("ada", allow("PutItem", resource=table_arn(), Condition=quiet))
    with pytest.raises(ApiError) as caught:
        engine.call(
            "PutItem",
            key="ada",
            TableName="table",
            Item=item("ada"),
            ConditionExpression="attribute_not_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert caught.value.code == "AccessDeniedException"
    assert "Item" not in caught.value.body
