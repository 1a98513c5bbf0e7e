"""Copies of a database: beside running writers, and in its own place."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from mmap import PAGESIZE
from pathlib import Path

import pytest

from hashrange.storage import CannotOpen, Corruption, LmdbStore, Plan, write_and_wait
from hashrange.storage.compaction import compact_directory
from hashrange.storage.files import PARTIAL

Start = Callable[..., "subprocess.Popen[str]"]

ENTRIES = {b"k%04d" % number: b"v" * 2000 for number in range(600)} | {b"l" * 1500: b"long"}


def fill(directory: Path) -> LmdbStore:
    """A store with entries, and with free pages that others have left."""
    store = LmdbStore.open(directory)
    write_and_wait(store, lambda _: Plan([(b"x%04d" % number, b"v" * 2000) for number in range(2000)]))
    write_and_wait(store, lambda _: Plan([(b"x%04d" % number, None) for number in range(2000)]))
    write_and_wait(store, lambda _: Plan(list(ENTRIES.items())))
    return store


def everything(store: LmdbStore) -> dict[bytes, bytes]:
    assert list(store.verify()) == []
    with store.read() as snapshot:
        return dict(snapshot.scan(b"", b"\xff"))


def everything_in(directory: Path) -> dict[bytes, bytes]:
    store = LmdbStore.open(directory)
    try:
        return everything(store)
    finally:
        store.close()


@pytest.mark.parametrize("compact", [True, False])
def test_a_copy_holds_one_moment_of_a_store_that_goes_on(tmp_path: Path, compact: bool) -> None:
    store = fill(tmp_path / "data")
    results: list[object] = []
    for number in range(200):
        store.write(lambda _, number=number: Plan([(b"n%04d" % number, b"")]), results.append)
    store.copy_to(tmp_path / "copy", compact=compact)
    write_and_wait(store, lambda _: Plan())
    assert len(results) == 200
    copied = everything_in(tmp_path / "copy")
    extra = sorted(copied.keys() - ENTRIES.keys())
    assert extra == [b"n%04d" % number for number in range(len(extra))]
    assert {key: value for key, value in copied.items() if key in ENTRIES} == ENTRIES
    if compact:
        assert (tmp_path / "copy" / "data.mdb").stat().st_size < store.stats()["size_on_disk_bytes"] / 2
    store.close()


def test_a_copy_never_replaces_anything(tmp_path: Path) -> None:
    store = fill(tmp_path / "data")
    LmdbStore.open(tmp_path / "other").close()
    with pytest.raises(CannotOpen, match=r"There is a database in .*/other already"):
        store.copy_to(tmp_path / "other")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "holiday.jpg").touch()
    with pytest.raises(CannotOpen, match=r"holiday\.jpg"):
        store.copy_to(tmp_path / "foreign")
    store.close()


def test_compaction_keeps_every_entry_and_gives_space_back(tmp_path: Path) -> None:
    store = fill(tmp_path)
    assert store.stats()["free_pages"] > 500
    store.close()
    result = compact_directory(tmp_path)
    assert result.after_bytes < result.before_bytes / 2
    assert (tmp_path / "data.mdb").stat().st_size == result.after_bytes
    assert everything_in(tmp_path) == ENTRIES
    store = LmdbStore.open(tmp_path)
    write_and_wait(store, lambda _: Plan([(b"k0000", None)]))
    assert len(everything(store)) == len(ENTRIES) - 1
    store.close()


def test_compaction_fills_the_pages_that_entries_in_any_order_left_half_empty(tmp_path: Path) -> None:
    store = LmdbStore.open(tmp_path)
    numbers = random.Random(1).sample(range(3000), 3000)
    for number in numbers:
        store.write(lambda _, number=number: Plan([(b"k%04d" % number, b"v" * 1100)]), lambda _: None)
    store.close()
    result = compact_directory(tmp_path)
    content_bytes = 3000 * len(b"k0000" + b"v" * 1100)
    assert result.before_bytes > 1.4 * content_bytes
    assert result.after_bytes < 1.3 * content_bytes
    assert everything_in(tmp_path) == {b"k%04d" % number: b"v" * 1100 for number in numbers}


def swap_keys(content: bytes) -> bytes:
    return content.replace(b"k0300", b"k9300")


def miscount(content: bytes) -> bytes:
    """One entry more in the number of entries that both of LMDB's first pages state."""
    damaged = bytearray(content)
    for page in (0, PAGESIZE):
        damaged[page + 120] ^= 1
    return bytes(damaged)


@pytest.mark.parametrize(
    ("damage", "message"), [(swap_keys, "its keys are not in order"), (miscount, "as many entries as it says")]
)
def test_compaction_of_a_damaged_database_says_so_and_keeps_the_file(
    tmp_path: Path, damage: Callable[[bytes], bytes], message: str
) -> None:
    fill(tmp_path).close()
    file = tmp_path / "data.mdb"
    damaged = damage(file.read_bytes())
    file.write_bytes(damaged)
    with pytest.raises(Corruption, match=message):
        compact_directory(tmp_path)
    assert file.read_bytes() == damaged
    assert not (tmp_path / PARTIAL).exists()


def test_compaction_refuses_a_database_in_use(start: Start, tmp_path: Path) -> None:
    fill(tmp_path).close()
    holder = start("hold_open", tmp_path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "open\n"
    with pytest.raises(CannotOpen, match="is in use by a running server"):
        compact_directory(tmp_path)
    holder.communicate("close\n")
    compact_directory(tmp_path)
    assert everything_in(tmp_path) == ENTRIES


def test_compaction_refuses_a_directory_without_a_database(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match="There is no Hashrange database"):
        compact_directory(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_compaction_that_dies_leaves_a_whole_database(start: Start, tmp_path: Path, moment: str) -> None:
    fill(tmp_path).close()
    assert start("compact_and_die", tmp_path, moment).wait(30) == 9
    assert everything_in(tmp_path) == ENTRIES
    compact_directory(tmp_path)
    assert everything_in(tmp_path) == ENTRIES
