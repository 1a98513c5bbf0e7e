"""A disk without room: writes are answered with an error, reads go on, and writes work again when there is room."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from crash.client import Client, key
from crash.server import Server, check_is_clean

pytestmark = pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux")

TABLE = "full"
MB = 1024 * 1024
LIMIT_BYTES = 3 * MB
FULL = (500, "InternalServerError")


def create_table(client: Client) -> None:
    client(
        "CreateTable",
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )


def put(client: Client, name: str, size: int = 100_000) -> tuple[int, str] | None:
    """Put an item; the status and code of the error if there was one."""
    refused = client.refusal("PutItem", TableName=TABLE, Item={**key(name), "padding": {"S": "x" * size}})
    return None if refused is None else (refused.status, refused.code)


def fill(client: Client) -> list[str]:
    """Write until there is no room; the names of what was written."""
    written: list[str] = []
    for number in range(1000):
        error = put(client, str(number))
        if error is not None:
            assert error == FULL
            return written
        written.append(str(number))
    raise AssertionError("there is always room")


def goes_through_a_full_disk(server: Server, make_room: Callable[[], None]) -> None:
    """Fill the disk, insist on what must go on and what cannot, make room, and insist on everything."""
    with Client(server.port) as client, Client(server.port) as other:
        create_table(client)
        written = fill(client)
        assert len(written) > 5
        for attempt in range(3):
            assert put(other, f"too much {attempt}") == FULL
            for reader in (client, other):
                for name in written:
                    assert "Item" in reader("GetItem", TableName=TABLE, Key=key(name), ConsistentRead=True)
        assert "Item" not in client("GetItem", TableName=TABLE, Key=key("too much 0"), ConsistentRead=True)
        assert client("Scan", TableName=TABLE, Select="COUNT")["Count"] > 0
        make_room()
        assert put(client, "at last") is None
        assert put(other, "me too", 300_000) is None
        assert "Item" in client("GetItem", TableName=TABLE, Key=key("me too"), ConsistentRead=True)


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    data = tmp_path / "data"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_BYTES, resource.RLIM_INFINITY))

    with Server(data, workers=2, before=limit) as server:

        def make_room() -> None:
            for pid in server.worker_pids():
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

        goes_through_a_full_disk(server, make_room)
        assert [line for line in server.lines if "a group of 1 writes failed" in line]
        assert not [line for line in server.lines if "Traceback" in line or "was killed" in line]
        assert server.stop() == 0
    check_is_clean(data)


def readiness(server: Server) -> int:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", "/health/ready")
    status = connection.getresponse().status
    connection.close()
    return status


def test_a_server_is_not_ready_while_nothing_can_be_written_though_nobody_has_tried(tmp_path: Path) -> None:
    with Server(tmp_path / "data") as server:
        [pid] = server.worker_pids()
        assert readiness(server) == 200
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
        assert readiness(server) == 503
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert readiness(server) == 200
        assert server.stop() == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small disk needs more rights")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs more rights")
def test_a_disk_that_is_full(small_disk: Path) -> None:
    data, ballast = small_disk / "data", small_disk / "ballast"
    ballast.write_bytes(b"x" * 4 * MB)
    with Server(data, workers=2) as server:
        goes_through_a_full_disk(server, ballast.unlink)
        assert server.stop() == 0
    check_is_clean(data)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs more rights")
def test_a_server_that_starts_on_a_full_disk_serves_reads(small_disk: Path) -> None:
    data, ballast = small_disk / "data", small_disk / "ballast"
    with Server(data) as server, Client(server.port) as client:
        create_table(client)
        assert put(client, "early") is None
        server.kill()
    with ballast.open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(b"x" * 4096)
        except OSError:
            pass
    with Server(data, workers=2) as server, Client(server.port) as client:
        assert "Item" in client("GetItem", TableName=TABLE, Key=key("early"), ConsistentRead=True)
        assert put(client, "late", 300_000) == FULL
        ballast.unlink()
        assert put(client, "late", 300_000) is None
        assert server.stop() == 0
    check_is_clean(data)
