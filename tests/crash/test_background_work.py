"""kill -9 while background work is under way: it goes on where it was."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crash.client import Client
from crash.owner import LEDGER_SCHEMA, SCHEMA, TABLE, Owner
from crash.server import Server, check_is_clean
from hashrange.engine import keyspace
from hashrange.storage import LmdbStore
from hashrange.values.ordered import after

ITEMS = 3000
BATCH = 25
NEW_INDEX: dict[str, Any] = {
    "TableName": "filled",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "shade", "AttributeType": "S"},
    ],
    "GlobalSecondaryIndexUpdates": [
        {
            "Create": {
                "IndexName": "by-shade",
                "KeySchema": [{"AttributeName": "shade", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        }
    ],
}


def fill(client: Client) -> None:
    client(
        "CreateTable",
        TableName="filled",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )
    for first in range(0, ITEMS, BATCH):
        items = [{"pk": {"S": str(n)}, "shade": {"S": str(n % 7)}} for n in range(first, first + BATCH)]
        client("BatchWriteItem", RequestItems={"filled": [{"PutRequest": {"Item": item}} for item in items]})


def eventually(holds: Callable[[], bool], seconds: float = 15.0) -> None:
    ends_at = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends_at
        time.sleep(0.002)


def index_of(client: Client) -> dict[str, Any]:
    [index] = client("DescribeTable", TableName="filled")["Table"]["GlobalSecondaryIndexes"]
    assert isinstance(index, dict)
    return index


def record_count(data: Path) -> int:
    store = LmdbStore.open(data, read_only=True)
    try:
        return store.stats()["records"]
    finally:
        store.close()


def left_of_tables(data: Path) -> int:
    """Records that belong to a table or tell of one."""
    store = LmdbStore.open(data, read_only=True)
    kinds = (keyspace.CATALOG, keyspace.ITEM, keyspace.INDEX, keyspace.COUNTER, keyspace.DELETED)
    try:
        with store.read() as snapshot:
            return sum(1 for kind in kinds for _ in snapshot.scan(kind, after(kind)))
    finally:
        store.close()


def test_an_index_that_was_being_filled_is_filled_after_the_restart(tmp_path: Path) -> None:
    with Server(tmp_path, "--durability", "none") as server, Client(server.port) as client:
        fill(client)
        client("UpdateTable", **NEW_INDEX)
        before = record_count(tmp_path)
        eventually(lambda: record_count(tmp_path) > before + ITEMS // 10)  # the filling is under way
        server.kill()
    assert record_count(tmp_path) < before + ITEMS  # and was not over
    check_is_clean(tmp_path)
    with Server(tmp_path, workers=2) as server, Client(server.port) as client:
        eventually(lambda: index_of(client)["IndexStatus"] == "ACTIVE")
        assert client("Scan", TableName="filled", IndexName="by-shade", Select="COUNT")["Count"] == ITEMS
        check_is_clean(tmp_path)


def test_what_a_deleted_table_left_is_removed_after_the_restart(tmp_path: Path) -> None:
    with Server(tmp_path, "--durability", "none") as server, Client(server.port) as client:
        fill(client)
        client("DeleteTable", TableName="filled")
        server.kill()
    assert left_of_tables(tmp_path) > 0
    check_is_clean(tmp_path)
    with Server(tmp_path) as server, Client(server.port) as client:
        assert client("ListTables")["TableNames"] == []
        eventually(lambda: left_of_tables(tmp_path) == 0)
        check_is_clean(tmp_path)


def test_index_writes_that_were_postponed_arrive_before_those_of_a_server_without_a_delay(tmp_path: Path) -> None:
    owner = Owner(0, "postponed")
    with Server(tmp_path, "--index-delay-ms", 60_000) as server, Client(server.port) as client:
        client("CreateTable", **SCHEMA)
        client("CreateTable", **LEDGER_SCHEMA)
        owner.write(client, times=60)
        assert client("Scan", TableName=TABLE, IndexName="by-group", Select="COUNT")["Count"] == 0
        server.kill()
    with Server(tmp_path, workers=2) as server, Client(server.port) as client:
        check_is_clean(tmp_path)
        owner.write(client, times=60)
        owner.settle(client)
        check_is_clean(tmp_path)
