"""A disk that fails: nothing is acknowledged that is not kept, nothing is damaged, and the log says what happened."""

from __future__ import annotations

import errno
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from crash.client import Client, Lost, key
from crash.faults import Action, Calls, Disk
from crash.server import Server, check_is_clean

TABLE = "fragile"
FAILED = (500, "InternalServerError")
SCHEMA = {
    "TableName": TABLE,
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "shade", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-shade",
            "KeySchema": [{"AttributeName": "shade", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}


def put(client: Client, name: str, size: int = 2000) -> tuple[int, str] | None:
    """Put an item; the status and code of the error if there was one."""
    item = {**key(name), "shade": {"S": name[:1]}, "padding": {"S": "x" * size}}
    refused = client.refusal("PutItem", TableName=TABLE, Item=item)
    return None if refused is None else (refused.status, refused.code)


def is_there(client: Client, name: str) -> bool:
    return "Item" in client.patiently("GetItem", TableName=TABLE, Key=key(name), ConsistentRead=True)


def put_patiently(client: Client, name: str, seconds: float = 10.0) -> None:
    """Put an item as clients do: again, until it is acknowledged."""
    ends_at = time.monotonic() + seconds
    while True:
        try:
            if put(client, name) is None:
                return
        except Lost:
            pass
        assert time.monotonic() < ends_at, "writes never worked again"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("action", "calls", "error", "workers"),
    [
        pytest.param(Action.FAIL, Calls.SYNCS, errno.EIO, 1, id="sync fails"),
        pytest.param(Action.FAIL, Calls.SYNCS, errno.EIO, 2, id="sync fails, two workers"),
        pytest.param(Action.FAIL, Calls.WRITES, errno.EIO, 1, id="write fails"),
        pytest.param(Action.FAIL, Calls.WRITES, errno.ENOSPC, 2, id="no space, two workers"),
        pytest.param(Action.FAIL, Calls.WRITES, errno.EROFS, 1, id="read-only all at once"),
        pytest.param(Action.SHORT, Calls.WRITES, 0, 1, id="short write"),
    ],
)
def test_a_write_that_the_disk_refuses_is_not_acknowledged_and_leaves_no_trace(
    tmp_path: Path, action: Action, calls: Calls, error: int, workers: int
) -> None:
    data, disk = tmp_path / "data", Disk(tmp_path / "disk")
    with Server(data, workers=workers, env=disk.environment) as server, Client(server.port) as client:
        client("CreateTable", **SCHEMA)
        assert put(client, "before") is None
        disk.fault(action, calls, error=error)
        for attempt in range(3):
            assert put(client, f"refused-{attempt}") == FAILED
            assert is_there(client, "before")
            assert not is_there(client, f"refused-{attempt}")
        assert disk.hits >= 3
        assert [line for line in server.lines if "a group of 1 writes failed" in line]
        disk.heal()
        assert put(client, "after") is None
        assert server.stop() == 0
        assert not [line for line in server.lines if "Traceback" in line]
    check_is_clean(data)
    with Server(data) as server, Client(server.port) as client:
        assert [name for name in ("before", "refused-0", "refused-2", "after") if is_there(client, name)] == [
            "before",
            "after",
        ]


@pytest.mark.parametrize(("action", "workers"), [(Action.FAIL, 1), (Action.SHORT, 2)])
def test_a_root_that_cannot_be_written_ends_the_process_and_not_the_database(
    tmp_path: Path, action: Action, workers: int
) -> None:
    """Nobody can tell what is on the disk then. The write is not acknowledged, and a new process looks."""
    data, disk = tmp_path / "data", Disk(tmp_path / "disk")
    with Server(data, workers=workers, env=disk.environment) as server, Client(server.port) as client:
        client("CreateTable", **SCHEMA)
        assert put(client, "before") is None
        disk.fault(action, Calls.ROOTS, times=1)
        assert put(client, "doubtful") == FAILED
        if workers == 1:
            assert server.process.wait(10) == 1
        else:
            put_patiently(client, "after")  # another worker has taken its place
            assert is_there(client, "before")
            assert server.stop() == 0
        server.hears(lambda line: "The disk failed in the middle of a commit" in line)
        assert not [line for line in server.lines if "Traceback" in line]
    check_is_clean(data)
    with Server(data) as server, Client(server.port) as client:
        assert is_there(client, "before")
        assert is_there(client, "after") == (workers == 2)
        put_patiently(client, "at last")


@pytest.mark.parametrize("calls", [Calls.WRITES, Calls.SYNCS])
def test_a_disk_that_never_comes_back_is_reported_and_leaves_what_was_there(tmp_path: Path, calls: Calls) -> None:
    data, disk = tmp_path / "data", Disk(tmp_path / "disk")
    with Server(data, workers=2, env=disk.environment) as server, Client(server.port) as client:
        client("CreateTable", **SCHEMA)
        assert put(client, "before") is None
        disk.fault(Action.FAIL, calls)
        for attempt in range(20):
            with suppress(Lost):
                assert put(client, f"refused-{attempt}") == FAILED
        server.kill()
        assert [line for line in server.lines if " error " in line]
    check_is_clean(data)
    with Server(data) as server, Client(server.port) as client:
        assert client("Scan", TableName=TABLE, Select="COUNT")["Count"] == 1


@pytest.mark.parametrize(
    ("action", "calls"),
    [
        (Action.DIE_AFTER, Calls.WRITES),
        (Action.DIE_AFTER, Calls.SYNCS),
        (Action.DIE_BEFORE, Calls.ROOTS),
        (Action.DIE_AFTER, Calls.ROOTS),
    ],
)
def test_a_process_that_dies_inside_a_commit_leaves_all_of_it_or_nothing(
    tmp_path: Path, action: Action, calls: Calls
) -> None:
    """The root is the last thing to be written: before that there is nothing to see of a commit, afterwards all."""
    data, disk = tmp_path / "data", Disk(tmp_path / "disk")
    with Server(data, env=disk.environment) as server, Client(server.port) as client:
        client("CreateTable", **SCHEMA)
        assert put(client, "before") is None
        disk.fault(action, calls, times=1)
        puts = [{"Put": {"TableName": TABLE, "Item": {**key(name), "shade": {"S": "a"}}}} for name in ("one", "two")]
        with pytest.raises(Lost):
            client("TransactWriteItems", TransactItems=puts)
        assert server.process.wait(10) == -signal.SIGKILL
    check_is_clean(data)
    happened = calls is Calls.ROOTS and action is Action.DIE_AFTER
    with Server(data) as server, Client(server.port) as client:
        assert [is_there(client, name) for name in ("before", "one", "two")] == [True, happened, happened]
