"""LMDB stores and the processes that use them: killed, sharing, short of memory and of disk."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hashrange.storage import Durability, LmdbStore, Plan, write_and_wait

Start = Callable[..., "subprocess.Popen[str]"]


def said(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


@pytest.mark.parametrize("durability", Durability)
def test_killing_a_process_loses_nothing_that_was_acknowledged(
    start: Start, tmp_path: Path, durability: Durability
) -> None:
    child = start("write_until_killed", tmp_path, durability)
    acknowledged = [int(said(child)) for _ in range(500)]
    child.kill()
    output, _ = child.communicate()
    acknowledged += [int(line) for line in output.splitlines(keepends=True) if line.endswith("\n")]

    store = LmdbStore.open(tmp_path)
    with store.read() as snapshot:
        for number in acknowledged:
            expected = b"v" * (number % 3000)
            assert snapshot.get(b"%08d" % number) == expected
            assert snapshot.get(b"l" * 700 + b"%08d" % number) == expected
    assert list(store.verify()) == []
    store.close()


def test_two_processes_write_to_one_database(start: Start, tmp_path: Path) -> None:
    store = LmdbStore.open(tmp_path)
    children = [start("increment_many", tmp_path, 200) for _ in range(2)]
    for turn in range(100):
        write_and_wait(store, lambda _, turn=turn: Plan([(b"mine%d" % turn, b"")], adds=[(b"added", 1)]))
    for child in children:
        assert child.wait(30) == 0
    with store.read() as snapshot:
        assert int.from_bytes(snapshot.get(b"count") or b"", "little") == 400
        assert int.from_bytes(snapshot.get(b"added") or b"", "little") == 500
        assert sum(1 for _ in snapshot.scan(b"mine", b"minf")) == 100
    store.close()


def test_a_reader_that_was_killed_is_forgotten_when_the_database_is_opened(start: Start, tmp_path: Path) -> None:
    holder = start("hold_open", tmp_path)  # while it is open, LMDB does not begin a new table of readers
    assert said(holder) == "open"
    reader = start("read_and_hold", tmp_path)
    assert said(reader) == "reading"
    reader.kill()
    reader.wait()
    store = LmdbStore.open(tmp_path)
    assert str(reader.pid) not in store._environment.readers()
    store.close()


def test_a_full_disk_refuses_writes_until_there_is_room_and_never_reads(start: Start, tmp_path: Path) -> None:
    child = start("fill_the_disk", tmp_path)
    assert said(child) == "unavailable"
    assert said(child) == "b'1' True"
    assert said(child) == "written"
    assert child.wait(30) == 0
    store = LmdbStore.open(tmp_path)
    assert list(store.verify()) == []
    store.close()


def test_a_limited_address_space_gets_a_smaller_map(start: Start, tmp_path: Path) -> None:
    child = start("limit_address_space", tmp_path)
    assert said(child) == str(16 * 1024**3)
    assert child.wait(30) == 0
