"""The throughput of a table is that of all workers together."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from crash.server import Server

WRITE_UNITS = 20
SECONDS = 5.0
CLIENTS = 4
RECORDED_SECONDS = 2.5  # a killed process takes the last second of its metrics with it


def client_of(server: Server) -> Any:
    """A client with one connection: it stays with the worker that accepted it."""
    config = Config(retries={"max_attempts": 0}, max_pool_connections=1)
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1")
    return session.client("dynamodb", endpoint_url=server.url, config=config)


def test_two_workers_let_in_what_the_table_has_and_no_more(tmp_path: Path) -> None:
    with Server(tmp_path / "data", workers=2) as server:
        client = client_of(server)
        client.create_table(
            TableName="table",
            ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": WRITE_UNITS},
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        )
        drain(client)
        written = [0] * CLIENTS
        start = time.monotonic()

        def write(number: int) -> None:
            mine = client_of(server)
            while time.monotonic() - start < SECONDS:
                written[number] += puts(mine, f"{number}-{written[number]}")
                time.sleep(0.01)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        elapsed = time.monotonic() - start
        # A second begins or ends inside the measured time; credit comes in whole seconds.
        assert WRITE_UNITS * (elapsed - 1) * 0.9 <= sum(written) <= WRITE_UNITS * (elapsed + 1) * 1.1


def test_a_server_that_was_killed_begins_without_credit(tmp_path: Path) -> None:
    with Server(tmp_path / "data", workers=2) as server:
        client = client_of(server)
        client.create_table(
            TableName="table",
            ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        )
        drain(client)
        time.sleep(RECORDED_SECONDS)
        server.kill()
    start = time.monotonic()
    with Server(tmp_path / "data", workers=2) as server:
        clients = [client_of(server) for _ in range(CLIENTS)]
        written = sum(puts(clients[number % CLIENTS], f"{number}") for number in range(30))
        assert written <= CLIENTS + time.monotonic() - start


def puts(client: Any, key: str) -> int:
    """How many of a single put were let in."""
    try:
        client.put_item(TableName="table", Item={"pk": {"S": key}})
    except ClientError as error:
        if error.response["Error"]["Code"] != "ProvisionedThroughputExceededException":
            raise
        return 0
    return 1


def drain(client: Any) -> None:
    """Use up the credit: puts of twenty units each, until one is refused."""
    for _ in range(1000):
        try:
            client.put_item(TableName="table", Item={"pk": {"S": "large"}, "data": {"S": "x" * 20_000}})
        except ClientError:
            return
    raise AssertionError("never throttled")
