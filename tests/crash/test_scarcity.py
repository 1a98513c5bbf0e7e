"""A system that gives nothing more: no descriptors, no right to write. What is possible goes on, the rest is said."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crash.client import Client, Lost, key
from crash.server import Server, check_is_clean, hashrange

TABLE = {
    "TableName": "scarce",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}
DESCRIPTORS = 256


def put(client: Client, name: str) -> None:
    client("PutItem", TableName="scarce", Item=key(name))


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux")
@pytest.mark.parametrize("workers", [1, 2])
def test_without_descriptors_open_connections_are_served_and_new_ones_as_soon_as_there_are_some(
    tmp_path: Path, workers: int
) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))

    data = tmp_path / "data"
    with Server(data, workers=workers, before=limit) as server, Client(server.port) as client:
        client("CreateTable", **TABLE)
        put(client, "early")  # an operation is loaded when it is first asked for, and that takes a descriptor too
        crowd = [socket.create_connection(("127.0.0.1", server.port), 5) for _ in range(DESCRIPTORS * 2)]
        for number in range(20):
            put(client, f"crowded-{number}")  # this connection was there before
        for each in crowd:
            each.close()
        ends_at = time.monotonic() + 10
        while True:
            try:
                with Client(server.port) as late:
                    put(late, "late")
                break
            except Lost:
                assert time.monotonic() < ends_at, "no new connection was ever served"
                time.sleep(0.05)
        put(client, "still there")
        assert client("Scan", TableName="scarce", Select="COUNT")["Count"] == 23
        assert server.stop() == 0
    check_is_clean(data)


@pytest.fixture
def read_only_disk(tmp_path: Path) -> Iterator[Path]:
    """A database on a file system that became read-only while no server was running."""
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(options, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a disk needs more rights")
    try:
        with Server(disk / "data") as server, Client(server.port) as client:
            client("CreateTable", **TABLE)
            put(client, "kept")
            assert server.stop() == 0
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_on_a_read_only_file_system_a_server_refuses_to_start_and_tools_can_read(read_only_disk: Path) -> None:
    data = read_only_disk / "data"
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    for workers in (1, 2):
        code, output, errors = hashrange("serve", "--port", 0, "--data", data, "--workers", workers)
        assert (code, output) == (2, "")
        assert errors.startswith("hashrange: The data directory")
        assert "is not writable" in errors
        assert errors.count("\n") == 1
    check_is_clean(data)
    code, output, _ = hashrange("dump", "scarce", "-", "--data", data)
    assert code == 0
    assert "kept" in output
    assert {path.name: path.read_bytes() for path in data.iterdir()} == before
