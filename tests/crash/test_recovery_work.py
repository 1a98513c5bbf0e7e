"""kill -9 in the middle of a restore, a backup, an import and a trim: each goes on and ends right."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Any

import orjson

from crash.client import Client
from crash.server import Server, check_is_clean, hashrange
from crash.test_background_work import eventually
from hashrange.engine import keyspace
from hashrange.storage import LmdbStore
from hashrange.values.ordered import after

ITEMS = 4000
BATCH = 25
KEY: dict[str, Any] = {
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "shade", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-shade",
            "KeySchema": [{"AttributeName": "shade", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
}


def item(number: int, shade: str) -> dict[str, Any]:
    return {"pk": {"S": str(number)}, "shade": {"S": shade}, "fill": {"S": "x" * 50}}


def fill(client: Client, table: str, shade: str) -> None:
    for first in range(0, ITEMS, BATCH):
        puts = [{"PutRequest": {"Item": item(number, shade)}} for number in range(first, first + BATCH)]
        client("BatchWriteItem", RequestItems={table: puts})


def shades(client: Client, table: str) -> dict[str, int]:
    """How many items of each shade a table has."""
    found: dict[str, int] = {}
    start: dict[str, Any] = {}
    while True:
        page = client("Scan", TableName=table, **start)
        for each in page["Items"]:
            found[each["shade"]["S"]] = found.get(each["shade"]["S"], 0) + 1
        if "LastEvaluatedKey" not in page:
            return found
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def is_active(client: Client, table: str) -> bool:
    return bool(client("DescribeTable", TableName=table)["Table"]["TableStatus"] == "ACTIVE")


def test_restores_and_backups_go_on_after_a_kill(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Server(data) as server, Client(server.port) as client:
        client("CreateTable", TableName="source", **KEY)
        wanted = {"PointInTimeRecoveryEnabled": True}
        client("UpdateContinuousBackups", TableName="source", PointInTimeRecoverySpecification=wanted)
        fill(client, "source", "red")
        moment = time.time()
        time.sleep(1.1)  # restores are to the second
        backup = client("CreateBackup", TableName="source", BackupName="first")["BackupDetails"]["BackupArn"]
        client(
            "RestoreTableToPointInTime",
            SourceTableName="source",
            TargetTableName="earlier",
            RestoreDateTime=int(moment) + 1,
        )
        client("RestoreTableFromBackup", TargetTableName="copied", BackupArn=backup)
        fill(client, "source", "blue")
        server.kill()
    with Server(data, workers=2) as server, Client(server.port) as client:
        client.patiently("DescribeTable", TableName="earlier")
        time.sleep(0.05)
        server.kill()
    with Server(data) as server, Client(server.port) as client:
        eventually(lambda: is_active(client, "earlier") and is_active(client, "copied"))
        assert shades(client, "earlier") == {"red": ITEMS}
        assert shades(client, "copied") == {"red": ITEMS}
        assert shades(client, "source") == {"blue": ITEMS}
        assert server.stop() == 0
    check_is_clean(data)


def test_an_import_goes_on_after_a_kill(tmp_path: Path) -> None:
    data, bucket = tmp_path / "data", tmp_path / "buckets" / "bucket"
    bucket.mkdir(parents=True)
    lines = b"".join(orjson.dumps({"Item": item(number, "red")}) + b"\n" for number in range(ITEMS))
    (bucket / "items.json.gz").write_bytes(gzip.compress(lines))
    options = ("--buckets", tmp_path / "buckets")
    with Server(data, *options) as server, Client(server.port) as client:
        started = client(
            "ImportTable",
            S3BucketSource={"S3Bucket": "bucket"},
            InputFormat="DYNAMODB_JSON",
            InputCompressionType="GZIP",
            TableCreationParameters={"TableName": "imported", **KEY},
        )["ImportTableDescription"]["ImportArn"]
        time.sleep(0.02)
        server.kill()

    def status(client: Client) -> str:
        found: str = client("DescribeImport", ImportArn=started)["ImportTableDescription"]["ImportStatus"]
        return found

    with Server(data, *options) as server, Client(server.port) as client:
        eventually(lambda: status(client) != "IN_PROGRESS")
        assert status(client) == "COMPLETED"
        assert shades(client, "imported") == {"red": ITEMS}
        assert server.stop() == 0
    check_is_clean(data)


def log_records(data: Path) -> int:
    store = LmdbStore.open(data, read_only=True)
    try:
        with store.read() as snapshot:
            return sum(1 for _ in snapshot.scan(keyspace.LOG, after(keyspace.LOG)))
    finally:
        store.close()


def test_trimming_goes_on_after_a_kill(tmp_path: Path) -> None:
    data = tmp_path / "data"
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    with Server(data, "--dev-clock") as server, Client(server.port) as client:
        client("CreateTable", TableName="source", StreamSpecification=stream, **KEY)
        fill(client, "source", "red")
        client("DeleteTable", TableName="source")  # the stream and its records are kept for a day
        server.kill()
    assert log_records(data) == ITEMS
    with Server(data, "--dev-clock") as server:
        code, _, errors = hashrange("clock", "--endpoint", server.url, "advance", "25h")
        assert (code, errors) == (0, "")
        server.kill()
    with Server(data, "--dev-clock") as server, Client(server.port) as client:
        assert client("ListStreams") == {"Streams": []}
        eventually(lambda: log_records(data) < ITEMS)
        server.kill()
    with Server(data, "--dev-clock") as server:
        eventually(lambda: log_records(data) == 0)
        assert server.stop() == 0
    check_is_clean(data)
