"""Transfers between accounts: money is neither made nor lost, whoever looks and whoever is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

from crash.client import Client, Lost, key
from crash.server import Server, check_is_clean

TABLE = "accounts"
PAIRS = 4
PAIR_SUM = 200
TELLERS = 8
AUDITORS = 3
SECONDS = 0.7

OVERDRAWN = "ConditionalCheckFailed"


def account(pair: int, side: str) -> dict[str, Any]:
    return key(f"{pair}-{side}")


def open_accounts(client: Client) -> None:
    client(
        "CreateTable",
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )
    for pair in range(PAIRS):
        for side in "ab":
            item = {**account(pair, side), "balance": {"N": str(PAIR_SUM // 2)}}
            client("PutItem", TableName=TABLE, Item=item)


def transfer(client: Client, random: Random) -> None:
    """Move some money within a pair, if there is enough."""
    pair, amount = random.randrange(PAIRS), random.randint(1, 60)
    payer, payee = random.sample("ab", 2)
    pay = {
        "TableName": TABLE,
        "Key": account(pair, payer),
        "UpdateExpression": "SET balance = balance - :amount",
        "ConditionExpression": "balance >= :amount",
        "ExpressionAttributeValues": {":amount": {"N": str(amount)}},
    }
    receive = {
        "TableName": TABLE,
        "Key": account(pair, payee),
        "UpdateExpression": "ADD balance :amount",
        "ExpressionAttributeValues": {":amount": {"N": str(amount)}},
    }
    refused = client.refusal("TransactWriteItems", TransactItems=[{"Update": pay}, {"Update": receive}])
    if refused is not None:
        assert [reason["Code"] for reason in refused.body["CancellationReasons"]] == [OVERDRAWN, "None"]


def balances(client: Client, pair: int) -> list[int]:
    gets = [{"Get": {"TableName": TABLE, "Key": account(pair, side)}} for side in "ab"]
    answer = client.patiently("TransactGetItems", TransactItems=gets)
    return [int(response["Item"]["balance"]["N"]) for response in answer["Responses"]]


class Day:
    """A day at the bank: tellers transfer and auditors look, until the end or until nobody answers."""

    def __init__(self, server: Server, seed: str) -> None:
        self._server = server
        self._seed = seed
        self._over = threading.Event()
        self.ending = threading.Event()
        self.transfers = 0
        self.audits = 0
        self._pool = ThreadPoolExecutor(TELLERS + AUDITORS)
        self._working = [self._pool.submit(self._transfer, number) for number in range(TELLERS)]
        self._working += [self._pool.submit(self._audit) for _ in range(AUDITORS)]

    def end(self) -> None:
        """Let everybody finish, and hear what they found."""
        self._over.set()
        self.ending.set()
        self._pool.shutdown()
        for work in self._working:
            work.result()

    def _transfer(self, number: int) -> None:
        random = Random(f"{self._seed}/{number}")
        with Client(self._server.port, self.ending) as client:
            while not self._over.is_set():
                try:
                    transfer(client, random)
                    self.transfers += 1
                except Lost:
                    if self.ending.wait(0.02):
                        return

    def _audit(self) -> None:
        with Client(self._server.port, self.ending) as client:
            for turn in range(1_000_000):
                if self._over.is_set():
                    return
                try:
                    found = balances(client, turn % PAIRS)
                except Lost:
                    return
                assert sum(found) == PAIR_SUM, f"an auditor saw {found}"
                assert min(found) >= 0
                self.audits += 1


def audit_all(server: Server) -> None:
    with Client(server.port) as client:
        for pair in range(PAIRS):
            found = balances(client, pair)
            assert sum(found) == PAIR_SUM
            assert min(found) >= 0
        total = client("Scan", TableName=TABLE, ConsistentRead=True)["Items"]
        assert sum(int(item["balance"]["N"]) for item in total) == PAIRS * PAIR_SUM


def test_money_is_neither_made_nor_lost_over_two_workers_and_a_crash(tmp_path: Path) -> None:
    seed = os.environ.get("SEED") or str(Random().randrange(10**9))
    data = tmp_path / "data"
    try:
        with Server(data, workers=2) as server:
            with Client(server.port) as client:
                open_accounts(client)
            first = Day(server, seed + "/first")
            time.sleep(SECONDS)
            os.kill(server.worker_pids()[1], signal.SIGKILL)
            time.sleep(SECONDS)
            first.ending.set()
            server.kill()
            first.end()
        with Server(data, workers=2) as server:
            audit_all(server)
            second = Day(server, seed + "/second")
            time.sleep(SECONDS)
            second.end()
            audit_all(server)
            check_is_clean(data)
            assert server.stop() == 0
    except BaseException as error:
        error.add_note(f"Run it again with SEED={seed}.")
        raise
    for day in (first, second):
        assert day.transfers > 50
        assert day.audits > 50
