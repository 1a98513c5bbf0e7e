"""Work that a server does in the background and that is never done within one life of it: indexes are filled and
removed, backups made and restored, the past brought back, the log trimmed. Each chore takes the next step whenever
everything is settled, and checks what came of the last one."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Protocol

import orjson

from crash.client import Client
from crash.owner import ABSENT, LEDGER, TABLE, Name, name_of
from hashrange.http.clock_control import FOLLOW_SECONDS

WAIT_SECONDS = 30.0
DAY_AND_MORE_SECONDS = 25 * 3600

Versions = dict[Name, int]


class Chore(Protocol):
    def step(self, client: Client, versions: Versions) -> None: ...


def eventually(holds: Callable[[], bool], what: str) -> None:
    ends_at = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < ends_at, what
        time.sleep(0.01)


def scan(client: Client, table: str, **members: Any) -> Iterator[dict[str, Any]]:
    start: dict[str, Any] = {}
    while True:
        page = client("Scan", TableName=table, **members, **start)
        yield from page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def is_mayfly(item: dict[str, Any]) -> bool:
    return str(item["pk"]["S"]).startswith("mayfly")


def versions_in(client: Client, table: str, called: str, **members: Any) -> Versions:
    """The version of every item that does not vanish by itself, as if the table had another name."""
    items = scan(client, table, **members)
    return {name_of(called, item): int(item["version"]["N"]) for item in items if not is_mayfly(item)}


def present(versions: Versions, table: str) -> Versions:
    return {name: version for name, version in versions.items() if name[0] == table and version != ABSENT}


def require_active(client: Client, table: str) -> None:
    def active() -> bool:
        return bool(client("DescribeTable", TableName=table)["Table"]["TableStatus"] == "ACTIVE")

    eventually(active, f"{table} never becomes active")


class IndexChore:
    """A global secondary index comes and goes."""

    NAME = "by-shade"

    def __init__(self) -> None:
        self.filled = 0
        self._is_there = False

    def step(self, client: Client, versions: Versions) -> None:
        if self._is_there:
            eventually(lambda: self._statuses(client) == ["ACTIVE"], "the index is never filled")
            found = versions_in(client, TABLE, TABLE, IndexName=self.NAME)
            assert found == present(versions, TABLE)
            self.filled += 1
            client("UpdateTable", TableName=TABLE, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": self.NAME}}])
        else:
            eventually(lambda: self._statuses(client) == [], "the index never goes")
            shape = {
                "IndexName": self.NAME,
                "KeySchema": [{"AttributeName": "shade", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
            client(
                "UpdateTable",
                TableName=TABLE,
                AttributeDefinitions=[{"AttributeName": "shade", "AttributeType": "S"}],
                GlobalSecondaryIndexUpdates=[{"Create": shape}],
            )
        self._is_there = not self._is_there

    def _statuses(self, client: Client) -> list[str]:
        indexes = client("DescribeTable", TableName=TABLE)["Table"]["GlobalSecondaryIndexes"]
        return [index["IndexStatus"] for index in indexes if index["IndexName"] == self.NAME]


class BackupChore:
    """A backup is made while everybody writes, then restored, compared and forgotten."""

    TARGET = "restored"

    def __init__(self) -> None:
        self.restored = 0
        self._expected: Versions = {}
        self._arn: str | None = None
        self._is_restoring = False

    def step(self, client: Client, versions: Versions) -> None:
        if self._arn is None:
            self._expected = present(versions, TABLE)
            made = client("CreateBackup", TableName=TABLE, BackupName="of-that-moment")
            self._arn = made["BackupDetails"]["BackupArn"]
        elif not self._is_restoring:
            client("RestoreTableFromBackup", TargetTableName=self.TARGET, BackupArn=self._arn)
            self._is_restoring = True
        else:
            require_active(client, self.TARGET)
            assert versions_in(client, self.TARGET, TABLE) == self._expected
            client("DeleteTable", TableName=self.TARGET)
            client("DeleteBackup", BackupArn=self._arn)
            self._arn, self._is_restoring = None, False
            self.restored += 1


class PastChore:
    """The ledger is brought back to a moment of an earlier round."""

    TARGET = "ledger-as-it-was"

    def __init__(self) -> None:
        self.restored = 0
        self._expected: Versions = {}
        self._moment: float | None = None
        self._is_restoring = False

    def step(self, client: Client, versions: Versions) -> None:
        if self._moment is None:
            self._expected = present(versions, LEDGER)
            self._moment = server_seconds(client)
            time.sleep(0.002)
        elif not self._is_restoring:
            client(
                "RestoreTableToPointInTime",
                SourceTableName=LEDGER,
                TargetTableName=self.TARGET,
                RestoreDateTime=self._moment,
            )
            self._is_restoring = True
        else:
            require_active(client, self.TARGET)
            assert versions_in(client, self.TARGET, LEDGER) == self._expected
            client("DeleteTable", TableName=self.TARGET)
            self._moment, self._is_restoring = None, False
            self.restored += 1


class ClockChore:
    """Now and then a day passes, and what is older is trimmed from the log while everybody writes."""

    def __init__(self, random: Random) -> None:
        self.days = 0
        self._random = random

    def step(self, client: Client, versions: Versions) -> None:
        if self._random.random() < 0.25:
            clock(client, {"advance_seconds": DAY_AND_MORE_SECONDS})
            time.sleep(FOLLOW_SECONDS * 1.2)  # what another worker still wrote at the old time would be trimmed unseen
            self.days += 1


def server_seconds(client: Client) -> float:
    return float(clock(client, None)["epoch_seconds"])


def clock(client: Client, body: dict[str, Any] | None) -> Any:
    url = f"http://127.0.0.1:{client.port}/_hashrange/clock"
    data = None if body is None else orjson.dumps(body)
    asked = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=WAIT_SECONDS) as response:
        return orjson.loads(response.read())
