"""Clients that record what they do and see, on a server whose processes are killed meanwhile."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from consistency.history import FAILED, OK, Operation, Transaction
from consistency.linearizability import is_linearizable, register
from consistency.serializability import anomalies
from crash.client import Client, Lost, Refused, key
from crash.server import Server, check_is_clean

REGISTERS = 4  # few, so that clients meet
LISTS = 5
CLIENTS = 4  # of each kind
TABLES = ("left", "right")
PIECE_OPERATIONS = (150, 450)  # between two kills
PIECE_SECONDS_MAX = 10.0

Now = Callable[[], float]


def create_tables(client: Client) -> None:
    for name in TABLES:
        client(
            "CreateTable",
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        )


class RegisterClient:
    """Reads and writes single items in every way there is."""

    def __init__(self, number: int, seed: str, values: count[int], now: Now) -> None:
        self.operations: list[Operation] = []
        self._number = number
        self._random = Random(f"{seed}/register/{number}")
        self._values = values
        self._now = now
        self._seen: dict[str, int | None] = {}

    def act(self, client: Client) -> None:
        name = f"register-{self._random.randrange(REGISTERS)}"
        kind = self._random.choice(("get", "get", "put", "replace", "compare-and-set", "compare-and-set"))
        arguments: tuple[Any, ...] = ()
        if kind != "get":
            value = None if kind == "replace" and self._random.random() < 0.3 else next(self._values)
            arguments = (value,) if kind != "compare-and-set" else (self._seen.get(name), value)
        operation = Operation(self._number, name, kind, arguments, self._now())
        self.operations.append(operation)
        result = self._send(client, operation)
        operation.returned, operation.result = self._now(), result
        if kind == "get":
            self._seen[name] = result
        elif kind != "compare-and-set" or result:
            self._seen[name] = arguments[-1]

    def _send(self, client: Client, operation: Operation) -> Any:
        place = {"TableName": TABLES[0]}
        item_key = key(operation.key)
        if operation.kind == "get":
            return value_of(client("GetItem", **place, Key=item_key, ConsistentRead=True).get("Item"))
        value = operation.arguments[-1]
        if value is None:
            answer = client("DeleteItem", **place, Key=item_key, ReturnValues="ALL_OLD")
            return value_of(answer.get("Attributes"))
        item = {**item_key, "value": {"N": str(value)}}
        if operation.kind == "compare-and-set":
            return self._compare_and_set(client, place, item, operation.arguments[0])
        answer = client("PutItem", **place, Item=item, ReturnValues="ALL_OLD")
        return None if operation.kind == "put" else value_of(answer.get("Attributes"))

    def _compare_and_set(self, client: Client, place: dict[str, Any], item: dict[str, Any], expected: Any) -> bool:
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(pk)"}
        if expected is not None:
            condition = {
                "ConditionExpression": "#v = :expected",
                "ExpressionAttributeNames": {"#v": "value"},
                "ExpressionAttributeValues": {":expected": {"N": str(expected)}},
            }
        refused = client.refusal("PutItem", **place, Item=item, **condition)
        assert refused is None or refused.code == "ConditionalCheckFailedException", refused
        return refused is None


def value_of(item: dict[str, Any] | None) -> int | None:
    return None if item is None else int(item["value"]["N"])


class ListClient:
    """Appends to several lists at once, in two tables, and reads several at once."""

    def __init__(self, number: int, seed: str, numbers: count[int], now: Now) -> None:
        self.transactions: list[Transaction] = []
        self._number = number
        self._random = Random(f"{seed}/list/{number}")
        self._numbers = numbers
        self._now = now
        self._lengths: dict[str, int] = {}

    def act(self, client: Client) -> None:
        names = self._random.sample([f"list-{number}" for number in range(LISTS)], self._random.randint(1, 3))
        transaction = Transaction(next(self._numbers), self._number, self._now())
        self.transactions.append(transaction)
        try:
            if self._random.random() < 0.5:
                self._read(client, transaction, names)
            else:
                self._append(client, transaction, names)
            transaction.status = OK
        except Refused as refused:
            if refused.code != "TransactionCanceledException":
                raise
            transaction.status = FAILED
            transaction.lengths.clear()
        transaction.returned = self._now()

    def _read(self, client: Client, transaction: Transaction, names: list[str]) -> None:
        gets = [{"Get": {"TableName": table_of(name), "Key": key(name)}} for name in names]
        answers = client("TransactGetItems", TransactItems=gets)["Responses"]
        for name, answer in zip(names, answers, strict=True):
            transaction.reads[name] = elements_of(answer.get("Item"))
            self._lengths[name] = len(transaction.reads[name])

    def _append(self, client: Client, transaction: Transaction, names: list[str]) -> None:
        """Append to all lists, on the condition that some of them, or another one, are as they were last seen."""
        others = [name for name in self._lengths if name not in names]
        checked = self._random.sample(others, 1) if others and self._random.random() < 0.6 else []
        actions = [self._update(transaction, name) for name in names]
        for name in checked:
            transaction.lengths[name] = self._lengths[name]
            check = {"TableName": table_of(name), "Key": key(name), **length_is(self._lengths[name])}
            actions.append({"ConditionCheck": check})
        client("TransactWriteItems", TransactItems=actions)

    def _update(self, transaction: Transaction, name: str) -> dict[str, Any]:
        transaction.appends.append((name, transaction.number))
        values = {":new": {"L": [{"N": str(transaction.number)}]}, ":none": {"L": []}, ":one": {"N": "1"}}
        update: dict[str, Any] = {
            "TableName": table_of(name),
            "Key": key(name),
            "UpdateExpression": "SET elements = list_append(if_not_exists(elements, :none), :new) ADD size_now :one",
        }
        if name in self._lengths and self._random.random() < 0.3:
            transaction.lengths[name] = self._lengths[name]
            condition = length_is(self._lengths[name])
            values.update(condition.pop("ExpressionAttributeValues", {}))
            update.update(condition)
        return {"Update": {**update, "ExpressionAttributeValues": values}}


def table_of(name: str) -> str:
    return TABLES[int(name[-1]) % 2]


def elements_of(item: dict[str, Any] | None) -> list[int]:
    return [] if item is None else [int(element["N"]) for element in item["elements"]["L"]]


def length_is(length: int) -> dict[str, Any]:
    if length == 0:
        return {"ConditionExpression": "attribute_not_exists(pk)"}
    return {
        "ConditionExpression": "size_now = :length",
        "ExpressionAttributeValues": {":length": {"N": str(length)}},
    }


class Recorder:
    """Several lives of a server on one database, and one history over all of them."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)
        started_at = time.monotonic()
        values, numbers = count(1), count(1)
        now = lambda: time.monotonic() - started_at  # noqa: E731
        self.registers = [RegisterClient(number, seed, values, now) for number in range(CLIENTS)]
        self.lists = [ListClient(number, seed, numbers, now) for number in range(CLIENTS)]

    def live(self, server: Server) -> None:
        """Let everybody act, kill a worker if there are several, and at last everything."""
        ending = threading.Event()
        clients: list[RegisterClient | ListClient] = [*self.registers, *self.lists]
        with ThreadPoolExecutor(len(clients)) as pool:
            working = [pool.submit(keep_acting, each, server.port, ending) for each in clients]
            try:
                self._wait_for_more()
                if server.workers > 1:
                    with suppress(ProcessLookupError):
                        os.kill(self._random.choice(server.worker_pids()), signal.SIGKILL)
                    self._wait_for_more()
            finally:
                ending.set()
                server.kill()
            for work in working:
                work.result()

    def _wait_for_more(self) -> None:
        """Wait until something has happened, however busy the machine is."""
        wanted = self._recorded() + self._random.randint(*PIECE_OPERATIONS)
        ends_at = time.monotonic() + PIECE_SECONDS_MAX
        while self._recorded() < wanted and time.monotonic() < ends_at:
            time.sleep(0.005)

    def _recorded(self) -> int:
        return sum(len(each.operations) for each in self.registers) + sum(len(each.transactions) for each in self.lists)

    def check(self, server: Server) -> Counter[str]:
        """Insist that what was recorded could have happened in some order; how much that was."""
        by_key: dict[str, list[Operation]] = defaultdict(list)
        for recorder in self.registers:
            for operation in recorder.operations:
                by_key[operation.key].append(operation)
        for name, operations in by_key.items():
            assert is_linearizable(operations, register), f"the operations of {name} are not linearizable"
        transactions = [each for recorder in self.lists for each in recorder.transactions]
        with Client(server.port) as client:
            found = anomalies(transactions, final_lists(client))
        assert found == []
        everything = [operation for operations in by_key.values() for operation in operations]
        return Counter(
            {
                "operations on single items": len(everything),
                "of them never answered": sum(not operation.is_known for operation in everything),
                "transactions": len(transactions),
                "transactions never answered": sum(each.status == "lost" for each in transactions),
                "transactions refused": sum(each.status == FAILED for each in transactions),
            }
        )


def keep_acting(recorder: RegisterClient | ListClient, port: int, ending: threading.Event) -> None:
    with Client(port, ending) as client:
        while not ending.is_set():
            try:
                recorder.act(client)
            except Lost:
                ending.wait(0.02)


def final_lists(client: Client) -> dict[str, list[int]]:
    names = [f"list-{number}" for number in range(LISTS)]
    answers = [client("GetItem", TableName=table_of(name), Key=key(name), ConsistentRead=True) for name in names]
    return {name: elements_of(answer.get("Item")) for name, answer in zip(names, answers, strict=True)}


def record_and_check(seed: str, *, workers: int, lives: int) -> Counter[str]:
    """One history over several lives of a server. A failure names its seed."""
    recorder = Recorder(seed)
    with tempfile.TemporaryDirectory(prefix="hashrange-consistency-") as directory:
        data = Path(directory) / "data"
        try:
            for life in range(lives):
                with Server(data, workers=workers) as server:
                    if life == 0:
                        with Client(server.port) as client:
                            create_tables(client)
                    recorder.live(server)
            with Server(data) as server:
                counts = recorder.check(server)
                assert server.stop() == 0
            check_is_clean(data)
        except BaseException as error:
            error.add_note(f"Run it again with SEED={seed}.")
            raise
    counts["lives of a server"] = lives
    return counts
