"""Which directories an LMDB store opens, and that a refused one is left as it was."""

from __future__ import annotations

from pathlib import Path

import lmdb
import pytest

from hashrange.storage import CannotOpen, LmdbStore, Plan, Unavailable, write_and_wait
from hashrange.storage.environment import FORMAT_KEY


def contents(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in directory.iterdir()}


def refusal(directory: Path, **how: bool) -> str:
    """The sentence with which the directory is refused, having checked that nothing in it changed."""
    before = contents(directory)
    with pytest.raises(CannotOpen) as caught:
        LmdbStore.open(directory, **how)
    assert contents(directory) == before
    return str(caught.value)


def make_database(directory: Path, entries: dict[bytes, bytes]) -> None:
    with lmdb.open(str(directory), lock=False) as environment, environment.begin(write=True) as transaction:
        for key, value in entries.items():
            transaction.put(key, value)


def test_a_missing_directory_is_created(tmp_path: Path) -> None:
    directory = tmp_path / "some" / "where"
    LmdbStore.open(directory).close()
    assert sorted(path.name for path in directory.iterdir()) == ["data.mdb", "hashrange.lock", "lock.mdb"]
    assert directory.stat().st_mode & 0o777 == 0o700


def test_what_was_written_is_there_when_opened_again(tmp_path: Path) -> None:
    for turn in (b"1", b"2", b"3"):
        store = LmdbStore.open(tmp_path)
        write_and_wait(store, lambda _, turn=turn: Plan([(b"k" + turn, turn), (b"long" * 500 + turn, turn)]))
        store.close()
    store = LmdbStore.open(tmp_path)
    with store.read() as snapshot:
        assert [value for _, value in snapshot.scan(b"", b"\xff")] == [b"1", b"2", b"3"] * 2
    store.close()


def test_the_map_is_large_and_the_file_is_small(tmp_path: Path) -> None:
    store = LmdbStore.open(tmp_path)
    assert store.stats()["map_size_bytes"] == 1024**4
    assert store.stats()["size_on_disk_bytes"] < 100_000
    store.close()


def test_a_file_in_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("mine")
    with pytest.raises(CannotOpen, match=r"^The data directory .*/data is not a directory\.$"):
        LmdbStore.open(tmp_path / "data")
    with pytest.raises(CannotOpen, match=r"/data is not a directory\.$"):
        LmdbStore.open(tmp_path / "data" / "below")
    assert contents(tmp_path).keys() == {"data"}


def test_a_directory_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_text("mine")
    assert "holds holiday.jpg and no Hashrange database" in refusal(tmp_path)


def test_a_new_file_system_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "lost+found").mkdir()
    LmdbStore.open(tmp_path).close()


def test_a_data_file_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data.mdb").write_bytes(b"something else" * 1000)
    assert "is not a Hashrange database" in refusal(tmp_path)


def test_an_lmdb_database_of_somebody_else_is_refused(tmp_path: Path) -> None:
    make_database(tmp_path, {b"a": b"1"})
    assert refusal(tmp_path) == f"The database in {tmp_path} was not made by Hashrange."


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    make_database(tmp_path, {FORMAT_KEY: b"2"})
    assert refusal(tmp_path) == (
        f"The database in {tmp_path} was written by a newer version of Hashrange "
        "(format 2; this version knows formats up to 1)."
    )
    assert "newer version" in refusal(tmp_path, read_only=True)


def test_a_start_that_was_interrupted_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "hashrange.lock").touch()
    LmdbStore.open(tmp_path).close()
    (tmp_path / "data.mdb").write_bytes(b"")
    LmdbStore.open(tmp_path).close()
    (tmp_path / "data.mdb").unlink()
    make_database(tmp_path, {})
    LmdbStore.open(tmp_path).close()


def test_the_rest_of_an_interrupted_compaction_is_removed(tmp_path: Path) -> None:
    LmdbStore.open(tmp_path).close()
    (tmp_path / "data.mdb.partial").write_bytes(b"half")
    LmdbStore.open(tmp_path).close()
    assert not (tmp_path / "data.mdb.partial").exists()


def test_one_process_opens_a_database_once(tmp_path: Path) -> None:
    store = LmdbStore.open(tmp_path)
    with pytest.raises(CannotOpen, match="already open in this process"):
        LmdbStore.open(tmp_path)
    assert write_and_wait(store, lambda _: Plan(answer=1)) == 1
    store.close()


def test_read_only_reads_and_refuses_writes(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match="There is no Hashrange database"):
        LmdbStore.open(tmp_path / "missing", read_only=True)
    assert not (tmp_path / "missing").exists()
    store = LmdbStore.open(tmp_path)
    write_and_wait(store, lambda _: Plan([(b"a", b"1")]))
    store.close()
    store = LmdbStore.open(tmp_path, read_only=True)
    with store.read() as snapshot:
        assert snapshot.get(b"a") == b"1"
    with pytest.raises(Unavailable, match="reading only"):
        write_and_wait(store, lambda _: Plan())
    store.close()


def test_reading_a_closed_store_says_that_it_is_unavailable(tmp_path: Path) -> None:
    store = LmdbStore.open(tmp_path)
    store.close()
    with pytest.raises(Unavailable), store.read():
        pass
