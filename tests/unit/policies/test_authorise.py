"""Requests are carried out if, and only if, policies allow what they do."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from harness import ApiError, expect
from hashrange.engine.scope import scope_of
from hashrange.errors import AccessDeniedException
from hashrange.http.observe import Observer, ObserveSettings
from hashrange.operations import registry
from hashrange.operations.operation import Request
from hashrange.operations.policies.authorise import Caller, authorise
from hashrange.operations.policies.needs import TO_RESTORE
from unit.policies.guarded import (
    ACCOUNT,
    OTHER_ACCOUNT,
    Guarded,
    allow,
    arn_of,
    denied,
    deny,
    policy_of,
    table_arn,
)

TABLE = table_arn()
INDEX = f"{TABLE}/index/by-day"
KEY = {"pk": {"S": "ada"}, "sk": {"S": "1"}}


def item(partition: str, sort: str = "1", **attributes: Any) -> dict[str, Any]:
    return {"pk": {"S": partition}, "sk": {"S": sort}, **attributes}


def is_allowed(engine: Guarded, operation: str, **members: Any) -> bool:
    """Whether ada may; any other refusal than that of a policy means that she may."""
    try:
        engine.call(operation, key="ada", **members)
    except ApiError as error:
        if error.code == "TransactionCanceledException":
            return "AccessDenied" not in str(error.message)
        return error.code != "AccessDeniedException"
    return True


def test_who_has_no_policy_may_do_nothing(engine: Guarded) -> None:
    engine.user("ada")
    expect(
        "AccessDeniedException",
        f"User: {arn_of('ada')} is not authorized to perform: dynamodb:GetItem on resource: {TABLE} "
        "because no identity-based policy allows the dynamodb:GetItem action",
        lambda: engine.call("GetItem", key="ada", TableName="table", Key=KEY),
    )


def test_an_explicit_denial_says_so(engine: Guarded) -> None:
    engine.user("ada", allow("*"), deny("DeleteItem"))
    assert is_allowed(engine, "GetItem", TableName="table", Key=KEY)
    expect(
        "AccessDeniedException",
        f"User: {arn_of('ada')} is not authorized to perform: dynamodb:DeleteItem on resource: {TABLE} "
        "with an explicit deny in an identity-based policy",
        lambda: engine.call("DeleteItem", key="ada", TableName="table", Key=KEY),
    )


def test_a_policy_that_cannot_be_read_allows_nothing(engine: Guarded) -> None:
    identity = engine.users["root"]
    engine.user("ada", allow("*"))
    whole = engine.users["ada"]
    engine.users["ada"] = type(identity)("ada", whole.arn, ACCOUNT, (*whole.policies, "{"), is_root=False)
    assert not is_allowed(engine, "GetItem", TableName="table", Key=KEY)


def test_a_refused_write_leaves_no_trace(engine: Guarded) -> None:
    engine.user("ada", allow("GetItem"))
    assert not is_allowed(engine, "PutItem", TableName="table", Item=item("ada"))
    assert engine.call("Scan", TableName="table")["Count"] == 0


def test_whether_a_table_exists_is_not_told_to_those_who_may_not_know(engine: Guarded) -> None:
    engine.user("ada", allow("*", resource=TABLE))
    message = denied("DescribeTable", table_arn("secret"))
    expect("AccessDeniedException", message, lambda: engine.call("DescribeTable", key="ada", TableName="secret"))


NEEDS: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("GetItem", {"TableName": "table", "Key": KEY}, [("GetItem", TABLE)]),
    ("GetItem", {"TableName": TABLE, "Key": KEY}, [("GetItem", TABLE)]),
    ("GetItem", {"TableName": TABLE.replace("arn:aws:", "arn:aws-cn:"), "Key": KEY}, [("GetItem", TABLE)]),
    ("PutItem", {"TableName": "table", "Item": KEY}, [("PutItem", TABLE)]),
    ("Scan", {"TableName": "table"}, [("Scan", TABLE)]),
    ("Scan", {"TableName": "table", "IndexName": "by-day"}, [("Scan", INDEX)]),
    (
        "Query",
        {
            "TableName": "table",
            "IndexName": "by-day",
            "KeyConditionExpression": "day = :d",
            "ExpressionAttributeValues": {":d": {"S": "x"}},
        },
        [("Query", INDEX)],
    ),
    ("BatchGetItem", {"RequestItems": {"table": {"Keys": [KEY]}}}, [("BatchGetItem", TABLE)]),
    ("BatchWriteItem", {"RequestItems": {"table": [{"PutRequest": {"Item": KEY}}]}}, [("BatchWriteItem", TABLE)]),
    (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "table", "Item": KEY}},
                {"Delete": {"TableName": "table", "Key": {**KEY, "sk": {"S": "2"}}}},
                {
                    "ConditionCheck": {
                        "TableName": "table",
                        "Key": {**KEY, "sk": {"S": "3"}},
                        "ConditionExpression": "attribute_not_exists(pk)",
                    }
                },
            ]
        },
        [("PutItem", TABLE), ("DeleteItem", TABLE), ("ConditionCheckItem", TABLE)],
    ),
    ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "table", "Key": KEY}}]}, [("GetItem", TABLE)]),
    ("ExecuteStatement", {"Statement": 'SELECT * FROM "table"'}, [("PartiQLSelect", TABLE)]),
    ("ExecuteStatement", {"Statement": 'SELECT * FROM "table"."by-day"'}, [("PartiQLSelect", INDEX)]),
    (
        "ExecuteStatement",
        {"Statement": "INSERT INTO \"table\" VALUE {'pk': 'a', 'sk': 'b'}"},
        [("PartiQLInsert", TABLE)],
    ),
    (
        "ExecuteStatement",
        {"Statement": "UPDATE \"table\" SET a = 1 WHERE pk = 'a' AND sk = 'b'"},
        [("PartiQLUpdate", TABLE)],
    ),
    (
        "ExecuteStatement",
        {"Statement": "DELETE FROM \"table\" WHERE pk = 'a' AND sk = 'b'"},
        [("PartiQLDelete", TABLE)],
    ),
    (
        "ExecuteTransaction",
        {"TransactStatements": [{"Statement": "DELETE FROM \"table\" WHERE pk = 'a' AND sk = 'b'"}]},
        [("PartiQLDelete", TABLE)],
    ),
    ("ListTables", {}, [("ListTables", table_arn("*"))]),
    ("DescribeLimits", {}, [("DescribeLimits", "*")]),
    ("ListStreams", {"TableName": "table"}, [("ListStreams", "*")]),
    ("DescribeTable", {"TableName": "table"}, [("DescribeTable", TABLE)]),
    ("DescribeTimeToLive", {"TableName": "table"}, [("DescribeTimeToLive", TABLE)]),
    (
        "EnableKinesisStreamingDestination",
        {"TableName": "table", "StreamArn": f"arn:aws:kinesis:us-east-1:{ACCOUNT}:stream/changes"},
        [("EnableKinesisStreamingDestination", TABLE)],
    ),
    ("ListTagsOfResource", {"ResourceArn": TABLE}, [("ListTagsOfResource", TABLE)]),
    ("ListTagsOfResource", {"ResourceArn": f"{TABLE}/stream/x"}, [("ListTagsOfResource", TABLE)]),
    (
        "DescribeStream",
        {"StreamArn": f"{TABLE}/stream/x" + "x" * 30},
        [("DescribeStream", f"{TABLE}/stream/x" + "x" * 30)],
    ),
    ("GetRecords", {"ShardIterator": f"{TABLE}/stream/x|1|abc"}, [("GetRecords", f"{TABLE}/stream/x")]),
    ("DescribeBackup", {"BackupArn": f"{TABLE}/backup/01"}, [("DescribeBackup", f"{TABLE}/backup/01")]),
    (
        "RestoreTableFromBackup",
        {"BackupArn": f"{TABLE}/backup/01", "TargetTableName": "copy"},
        [
            ("RestoreTableFromBackup", table_arn("copy")),
            ("RestoreTableFromBackup", f"{TABLE}/backup/01"),
            *((name, table_arn("copy")) for name in TO_RESTORE),
        ],
    ),
    (
        "RestoreTableToPointInTime",
        {"SourceTableName": "table", "TargetTableName": "copy", "UseLatestRestorableTime": True},
        [
            ("RestoreTableToPointInTime", TABLE),
            ("RestoreTableToPointInTime", table_arn("copy")),
            *((name, table_arn("copy")) for name in TO_RESTORE),
        ],
    ),
    (
        "DescribeExport",
        {"ExportArn": f"{TABLE}/export/" + "0" * 20},
        [("DescribeExport", f"{TABLE}/export/" + "0" * 20)],
    ),
    ("GetResourcePolicy", {"ResourceArn": TABLE}, [("GetResourcePolicy", TABLE)]),
    (
        "CreateTable",
        {
            "TableName": "new",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST",
            "Tags": [{"Key": "a", "Value": "b"}],
            "ResourcePolicy": policy_of(allow("GetItem", Principal={"AWS": ACCOUNT})),
        },
        [("CreateTable", table_arn("new")), ("PutResourcePolicy", table_arn("new")), ("TagResource", table_arn("new"))],
    ),
]


@pytest.mark.parametrize(("operation", "members", "needs"), NEEDS, ids=[f"{case[0]} {case[2]}" for case in NEEDS])
def test_a_request_needs_exactly_these_permissions(
    engine: Guarded, operation: str, members: dict[str, Any], needs: list[tuple[str, str]]
) -> None:
    exact = [
        allow(action, resource=resource.replace("*", "${*}") if len(resource) > 1 else "*")
        for action, resource in needs
    ]
    for missing in range(len(needs)):
        engine.user("ada", allow("Nothing"), *(statement for at, statement in enumerate(exact) if at != missing))
        assert not is_allowed(engine, operation, **members)
    engine.user("ada", *exact)
    assert is_allowed(engine, operation, **members)


def test_a_transaction_tells_which_action_is_refused(engine: Guarded) -> None:
    engine.user("ada", allow("PutItem"))
    actions = [
        {"Put": {"TableName": "table", "Item": KEY}},
        {"Delete": {"TableName": "table", "Key": {**KEY, "sk": {"S": "2"}}}},
    ]
    error = expect(
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons [None, AccessDenied]",
        lambda: engine.call("TransactWriteItems", key="ada", TransactItems=actions),
    )
    assert error.body["CancellationReasons"] == [
        {"Code": "None"},
        {"Code": "AccessDenied", "Message": denied("DeleteItem", TABLE)},
    ]
    assert engine.call("Scan", TableName="table")["Count"] == 0


def test_a_batch_of_statements_carries_out_those_that_are_allowed(engine: Guarded) -> None:
    engine.user("ada", allow("PartiQLInsert"))
    statements = [
        {"Statement": "INSERT INTO \"table\" VALUE {'pk': 'a', 'sk': '1'}"},
        {"Statement": "DELETE FROM \"table\" WHERE pk = 'a' AND sk = '2'"},
        {"Statement": "DELETE FRUM"},
    ]
    responses = engine.call("BatchExecuteStatement", key="ada", Statements=statements)["Responses"]
    assert responses[0] == {"TableName": "table"}
    assert responses[1] == {"Error": {"Code": "AccessDenied", "Message": denied("PartiQLDelete", TABLE)}}
    assert responses[2]["Error"]["Code"] == "ValidationError"
    assert engine.call("Scan", TableName="table")["Count"] == 1


def test_another_accounts_table_needs_the_consent_of_both(engine: Guarded) -> None:
    engine.create_table_in(OTHER_ACCOUNT)
    theirs = table_arn("table", OTHER_ACCOUNT)
    engine.user("ada", allow("GetItem"))
    expect(
        "AccessDeniedException",
        f"User: {arn_of('ada')} is not authorized to perform: dynamodb:GetItem on resource: {theirs} "
        "because no resource-based policy allows the dynamodb:GetItem action",
        lambda: engine.call("GetItem", key="ada", TableName=theirs, Key=KEY),
    )
    consent = policy_of(allow("GetItem", resource=theirs, Principal={"AWS": ACCOUNT}))
    engine.call("PutResourcePolicy", key="other-root", ResourceArn=theirs, Policy=consent)
    assert engine.call("GetItem", key="ada", TableName=theirs, Key=KEY) == {}
    engine.user("ada")
    assert not is_allowed(engine, "GetItem", TableName=theirs, Key=KEY)


def test_lists_of_another_account_are_closed(engine: Guarded) -> None:
    engine.create_table_in(OTHER_ACCOUNT)
    theirs = table_arn("table", OTHER_ACCOUNT)
    engine.user("ada", allow("*"))
    assert is_allowed(engine, "ListBackups", TableName="table")
    assert not is_allowed(engine, "ListBackups", TableName=theirs)
    assert not is_allowed(engine, "ListExports", TableArn=theirs)


def test_root_of_one_account_is_a_stranger_in_another(engine: Guarded) -> None:
    theirs = table_arn()
    expect(
        "AccessDeniedException",
        f"User: arn:aws:iam::{OTHER_ACCOUNT}:root is not authorized to perform: dynamodb:GetItem on resource: {theirs} "
        "because no resource-based policy allows the dynamodb:GetItem action",
        lambda: engine.call("GetItem", key="other-root", TableName=theirs, Key=KEY),
    )


def test_whoever_feeds_a_function_must_be_allowed_to_read_the_stream(engine: Guarded) -> None:
    engine.user("ada", {"Effect": "Allow", "Action": "lambda:*", "Resource": "*"})
    stream = f"{TABLE}/stream/x"
    operation = registry.load("lambda_.create_event_source_mapping")
    caller = Caller(engine.users["ada"], "us-east-1", engine.clock, "127.0.0.1", secure=False)
    request = Request({"EventSourceArn": stream, "FunctionName": "f"}, scope_of(ACCOUNT, "us-east-1"))
    with pytest.raises(AccessDeniedException) as caught:
        authorise(engine.db, caller, operation, request)
    assert caught.value.message == denied("GetRecords", stream)


def test_an_invalid_request_is_told_what_is_wrong_with_it(engine: Guarded) -> None:
    engine.user("ada", allow("*", Condition={"ForAllValues:StringEquals": {"dynamodb:Attributes": ["pk", "sk"]}}))
    expect(
        "ValidationException",
        'Invalid ProjectionExpression: Syntax error; token: "+", near: "a +"',
        lambda: engine.call("GetItem", key="ada", TableName="table", Key=KEY, ProjectionExpression="a +"),
    )


def test_what_is_denied_in_part_is_in_the_audit_log(engine: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    engine._handle.observer = Observer(ObserveSettings(audit=True), engine.clock)
    engine.user("ada")
    get = {"Get": {"TableName": "table", "Key": KEY}}
    statement = {"Statement": "SELECT * FROM \"table\" WHERE pk = 'a' AND sk = 'b'"}
    with caplog.at_level(logging.INFO, "hashrange.audit"):
        assert not is_allowed(engine, "TransactGetItems", TransactItems=[get])
        engine.call("BatchExecuteStatement", key="ada", Statements=[statement])
        engine.call("BatchExecuteStatement", Statements=[statement])
    lines = [json.loads(record.getMessage()) for record in caplog.records]
    assert [(line["operation"], line["identity"]) for line in lines] == [
        ("TransactGetItems", arn_of("ada")),
        ("BatchExecuteStatement", arn_of("ada")),
    ]
