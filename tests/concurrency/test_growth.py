"""A server that was told no number of workers grows under load, with every guarantee that it had as one process."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crash.client import Client, Lost, Refused
from crash.server import Server, check_is_clean
from hashrange.http.observe_workers import is_running

CLIENTS = 6
ITEMS = 500
GROWN = "helps from now on"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path / "data", workers=0) as server:
        client = Client(server.port)
        client(
            "CreateTable",
            TableName="table",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        )
        for number in range(ITEMS):
            client("PutItem", TableName="table", Item={"pk": {"S": str(number)}})
        yield server


class Load:
    """Clients that each count in an item of their own, and have the server look through the table in between."""

    def __init__(self, server: Server) -> None:
        self.added = [0] * CLIENTS
        self.failures: list[str] = []
        self.over = threading.Event()
        self._port = server.port
        self._threads = [threading.Thread(target=self._work, args=(number,)) for number in range(CLIENTS)]

    def _work(self, number: int) -> None:
        client = Client(self._port)
        while not self.over.is_set():
            try:
                self._count(client, number)
            except Lost:  # with its process; what it was asked may have been done
                continue
            except (AssertionError, Refused) as error:
                self.failures.append(str(error))
                return

    def _count(self, client: Client, number: int) -> None:
        key = {"pk": {"S": f"counter {number}"}}
        one = {":one": {"N": "1"}}
        client("UpdateItem", TableName="table", Key=key, UpdateExpression="ADD n :one", ExpressionAttributeValues=one)
        self.added[number] += 1
        found = client("GetItem", TableName="table", Key=key, ConsistentRead=True)["Item"]
        assert int(found["n"]["N"]) >= self.added[number], "a client does not see what it wrote"
        client("Scan", TableName="table", Select="COUNT", FilterExpression="attribute_exists(nothing)")

    @contextmanager
    def going_on(self) -> Iterator[None]:
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self.over.set()
            for thread in self._threads:
                thread.join(20)


def test_clients_read_their_own_writes_while_connections_move(server: Server) -> None:
    load = Load(server)
    with load.going_on():
        server.hears(lambda line: GROWN in line, 20)
        time.sleep(2)
        assert len(server.worker_pids()) == 2
    assert load.failures == []
    assert server.stop() == 0
    assert server.data is not None
    check_is_clean(server.data)


def test_a_killed_helper_loses_nothing_that_was_acknowledged(server: Server) -> None:
    load = Load(server)
    with load.going_on():
        server.hears(lambda line: GROWN in line, 20)
        time.sleep(1)
        helper = server.worker_pids()[1]
        os.kill(helper, signal.SIGKILL)
        server.hears(lambda line: f"process {helper}, which helped, has ended" in line)
        time.sleep(0.5)
    assert load.failures == []
    client = Client(server.port)
    for number, added in enumerate(load.added):
        found = client("GetItem", TableName="table", Key={"pk": {"S": f"counter {number}"}})["Item"]
        assert int(found["n"]["N"]) >= added


def test_helpers_end_when_their_server_is_killed(server: Server) -> None:
    load = Load(server)
    with load.going_on():
        server.hears(lambda line: GROWN in line, 20)
        time.sleep(0.5)
        helper = server.worker_pids()[1]
        server.process.kill()
        load.over.set()
    for _ in range(500):
        if not is_running(helper):
            return
        time.sleep(0.02)
    raise AssertionError("the helper goes on")
