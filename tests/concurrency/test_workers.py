"""Workers that die are replaced, and clients that try again notice little of it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from crash.client import Client
from crash.server import Server, check_is_clean

KILLS = 4


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path / "data", workers=2) as server:
        yield server


def boto3_client(server: Server) -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=server.url,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"mode": "standard", "max_attempts": 8}, connect_timeout=5, read_timeout=10),
    )


def wait_for_pids(server: Server, gone: set[int]) -> list[int]:
    for _ in range(500):
        pids = server.worker_pids()
        if len(pids) == 2 and not gone & set(pids):
            return pids
        time.sleep(0.02)
    raise AssertionError("the worker was not replaced\n" + "\n".join(server.lines))


def test_boto3_with_its_retries_goes_on_while_workers_are_killed(server: Server) -> None:
    first = boto3_client(server)
    first.create_table(
        TableName="table",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )
    over = threading.Event()
    written: list[str] = []
    failures: list[BaseException] = []

    def write(number: int, client: Any) -> None:
        turn = 0
        try:
            while not over.is_set():
                client.put_item(TableName="table", Item={"pk": {"S": f"{number}-{turn}"}})
                written.append(f"{number}-{turn}")
                turn += 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number, boto3_client(server))) for number in range(4)]
    for thread in threads:
        thread.start()
    gone: set[int] = set()
    for turn in range(KILLS):
        time.sleep(0.2)
        victim = wait_for_pids(server, gone)[turn % 2]
        os.kill(victim, signal.SIGKILL)
        gone.add(victim)
    wait_for_pids(server, gone)
    over.set()
    for thread in threads:
        thread.join(30)
    assert failures == []
    items = first.get_paginator("scan").paginate(TableName="table").search("Items[].pk.S")
    assert set(items) == set(written)
    for victim in gone:
        assert any(f"(process {victim}) was killed by SIGKILL" in line for line in server.lines)
    assert server.stop() == 0


def test_a_worker_killed_while_it_holds_the_writers_lock_keeps_nobody_waiting(server: Server, tmp_path: Path) -> None:
    """The other worker takes the lock over. Stopped in mid-write, a worker holds it for as long as we like."""
    with Client(server.port) as client:
        client(
            "CreateTable",
            TableName="table",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        )

    over = threading.Event()
    written: list[str] = []

    def write(number: int) -> None:
        with Client(server.port) as mine:
            for turn in range(100_000):
                if over.is_set():
                    return
                mine.patiently("PutItem", TableName="table", Item={"pk": {"S": f"{number}-{turn}"}})
                written.append(f"{number}-{turn}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for turn in range(6):
        time.sleep(0.05)
        victim = server.worker_pids()[turn % 2]
        os.kill(victim, signal.SIGSTOP)  # where it is, often with the lock
        time.sleep(0.05)
        os.kill(victim, signal.SIGKILL)
        wait_for_pids(server, {victim})
    over.set()
    for thread in threads:
        thread.join(30)
    with Client(server.port) as client:
        assert client.patiently("Scan", TableName="table", Select="COUNT")["Count"] == len(written) > 100
    check_is_clean(tmp_path / "data")


def test_workers_that_cannot_start_end_the_server_with_a_sentence(server: Server, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.rename(tmp_path / "moved")
    data.write_text("in the way")
    for pid in server.worker_pids():
        os.kill(pid, signal.SIGKILL)
    assert server.process.wait(10) == 2
    server._listener.join(10)
    assert not [line for line in server.lines if "Traceback" in line]
    errors = {line.partition("hashrange.server ")[2] for line in server.lines if " error " in line}
    assert errors == {f"The data directory {data} is not a directory."}
    assert data.read_text() == "in the way"


def test_background_jobs_go_on_when_the_worker_that_runs_them_is_killed(server: Server) -> None:
    with Client(server.port) as client:
        create = {
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        }
        client("CreateTable", TableName="table", **create)
        client("PutItem", TableName="table", Item={"pk": {"S": "a"}, "shade": {"S": "red"}})
        for pid in server.worker_pids():
            os.kill(pid, signal.SIGKILL)
        index = {
            "IndexName": "by-shade",
            "KeySchema": [{"AttributeName": "shade", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
        client.patiently("DescribeTable", TableName="table")
        client(
            "UpdateTable",
            TableName="table",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "shade")],
            GlobalSecondaryIndexUpdates=[{"Create": index}],
        )
        for _ in range(500):
            [described] = client("DescribeTable", TableName="table")["Table"]["GlobalSecondaryIndexes"]
            if described["IndexStatus"] == "ACTIVE":
                break
            time.sleep(0.02)
        assert client("Scan", TableName="table", IndexName="by-shade", Select="COUNT")["Count"] == 1
