"""With `--auth verify`, a key that may do everything in one account reaches nothing of another by naming it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from fuzz.signatures import KEYS
from harness import AUTHORIZATION, FakeExchange, target_of
from hashrange import app
from hashrange.auth.signing import signed_headers
from hashrange.clock import ManualClock
from hashrange.engine.scope import scope_of
from hashrange.scaling.activity import Activity, activities, add_activity
from hashrange.scaling.resource import Resource
from hashrange.storage import Plan, write_and_wait
from hashrange.storage.memory import MemoryStore

OTHER = b"111111111111"
TABLE = "arn:aws:dynamodb:us-east-1:111111111111:table/secret"
KEY = {"pk": {"S": "k"}}
ONE = f"SELECT * FROM \"{TABLE}\" WHERE pk = 'k'"
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("GetItem", {"TableName": TABLE, "Key": KEY}),
    ("GetItem", {"TableName": "secret", "Key": KEY}),
    ("Scan", {"TableName": TABLE}),
    (
        "Query",
        {"TableName": TABLE, "KeyConditionExpression": "pk = :k", "ExpressionAttributeValues": {":k": {"S": "k"}}},
    ),
    ("BatchGetItem", {"RequestItems": {TABLE: {"Keys": [KEY]}}}),
    ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": TABLE, "Key": KEY}}]}),
    ("PutItem", {"TableName": TABLE, "Item": KEY}),
    ("BatchWriteItem", {"RequestItems": {TABLE: [{"PutRequest": {"Item": KEY}}]}}),
    ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": TABLE, "Item": KEY}}]}),
    ("ExecuteStatement", {"Statement": f'SELECT * FROM "{TABLE}"'}),
    ("BatchExecuteStatement", {"Statements": [{"Statement": ONE}]}),
    ("ExecuteTransaction", {"TransactStatements": [{"Statement": ONE}]}),
    ("DescribeTable", {"TableName": TABLE}),
    ("UpdateTable", {"TableName": TABLE, "DeletionProtectionEnabled": True}),
    ("DeleteTable", {"TableName": TABLE}),
    ("DescribeStream", {"StreamArn": "{stream}"}),
    ("GetShardIterator", {"StreamArn": "{stream}", "ShardId": "{shard}", "ShardIteratorType": "TRIM_HORIZON"}),
    ("GetRecords", {"ShardIterator": "{iterator}"}),
    ("ListTagsOfResource", {"ResourceArn": TABLE}),
    ("TagResource", {"ResourceArn": TABLE, "Tags": [{"Key": "a", "Value": "b"}]}),
    ("CreateBackup", {"TableName": TABLE, "BackupName": "mine"}),
    ("DescribeBackup", {"BackupArn": "{backup}"}),
    ("DeleteBackup", {"BackupArn": "{backup}"}),
    ("RestoreTableFromBackup", {"TargetTableName": "stolen", "BackupArn": "{backup}"}),
    (
        "RestoreTableToPointInTime",
        {"SourceTableArn": TABLE, "TargetTableName": "stolen", "UseLatestRestorableTime": True},
    ),
    ("ExportTableToPointInTime", {"TableArn": TABLE, "S3Bucket": "bucket"}),
    ("UpdateTimeToLive", {"TableName": TABLE, "TimeToLiveSpecification": {"AttributeName": "a", "Enabled": True}}),
    ("GetResourcePolicy", {"ResourceArn": TABLE}),
    ("DeleteResourcePolicy", {"ResourceArn": TABLE}),
]


class Accounts:
    """A table of one account, and whoever has a key of the other."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.clock = ManualClock()
        self._open = self._handler(app.Settings())
        self._verifying = self._handler(app.Settings(verify_signatures=True, bootstrap=KEYS))
        keys = [{"AttributeName": "pk", "KeyType": "HASH"}]
        types = [{"AttributeName": "pk", "AttributeType": "S"}]
        stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
        self.owner("CreateTable", KeySchema=keys, AttributeDefinitions=types, StreamSpecification=stream)
        self.owner("PutItem", Item={**KEY, "a": {"S": "hidden"}})
        self.owner("UpdateContinuousBackups", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
        stream_arn = self.owner("DescribeTable")["Table"]["LatestStreamArn"]
        shard = self.owner("DescribeStream", StreamArn=stream_arn)["StreamDescription"]["Shards"][0]["ShardId"]
        place = {"StreamArn": stream_arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        self.known = {
            "{stream}": stream_arn,
            "{shard}": shard,
            "{iterator}": self.owner("GetShardIterator", **place)["ShardIterator"],
            "{backup}": self.owner("CreateBackup", BackupName="backup")["BackupDetails"]["BackupArn"],
        }

    def _handler(self, settings: app.Settings) -> app.Dispatcher:
        return app.build_handler(app.build_database(self.store, settings, self.clock), settings)

    def owner(self, operation: str, **members: Any) -> Any:
        """A request of the table's owner, which succeeds."""
        headers = {b"authorization": AUTHORIZATION % (OTHER, b"us-east-1"), b"x-amz-date": b"20260101T000000Z"}
        members = members if "StreamArn" in members else {"TableName": "secret", **members}
        members |= {"BillingMode": "PAY_PER_REQUEST"} if operation == "CreateTable" else {}
        status, answer = sent(self._open, operation, headers, orjson.dumps(members))
        assert status == 200, answer
        return orjson.loads(answer)

    def stranger(self, operation: str, members: dict[str, Any]) -> tuple[int, bytes]:
        """The same from somebody whose key is good, but for another account."""
        body = orjson.dumps({name: self.known.get(str(value), value) for name, value in members.items()})
        headers = signed_headers(
            KEYS,
            service="dynamodb",
            region="us-east-1",
            method="POST",
            host="localhost",
            path="/",
            body=body,
            headers={"content-type": "application/x-amz-json-1.0", "x-amz-target": target_of(operation).decode()},
            now_seconds=self.clock.seconds(),
        )
        encoded = {name.lower().encode(): text.encode() for name, text in headers.items()}
        return sent(self._verifying, operation, encoded, body)


def sent(handler: app.Dispatcher, operation: str, headers: dict[bytes, bytes], body: bytes) -> tuple[int, bytes]:
    own = {b"content-type": b"application/x-amz-json-1.0", b"x-amz-target": target_of(operation)}
    exchange = FakeExchange(own | headers, body)
    exchange.body_as_sent = body  # type: ignore[attr-defined]
    handler(exchange)  # type: ignore[arg-type]
    assert exchange.answer is not None
    return exchange.answer[0], exchange.answer[2]


@pytest.mark.parametrize(("operation", "members"), REQUESTS)
def test_a_key_of_one_account_reaches_nothing_of_another(operation: str, members: dict[str, Any]) -> None:
    accounts = Accounts()
    status, answer = accounts.stranger(operation, members)
    assert status == 400 or operation == "BatchExecuteStatement"  # which tells errors for each statement
    assert b"AccessDenied" in answer or b"ResourceNotFoundException" in answer
    assert b"hidden" not in answer


def test_a_token_that_was_made_up_does_not_lead_to_the_activities_of_another_account() -> None:
    store, now = MemoryStore(), 1_800_000_000_000_000
    activity = Activity("id", Resource("secret", None, "READ"), "Setting read capacity units to 5.", "", now, now)
    owner, stranger = scope_of("111111111111", "us-east-1"), scope_of("000000000000", "us-east-1")
    write_and_wait(store, lambda snapshot: Plan(add_activity(snapshot, owner, activity, 0)))
    with store.read() as snapshot:
        assert [found for _, found in activities(snapshot, owner, now, None)] == [activity]
        assert list(activities(snapshot, stranger, now, b"\xff")) == []
