"""`hashrange check`, `compact` and `copy`, on sound databases and on others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crash.client import Client
from crash.owner import SCHEMA, TABLE
from crash.server import Server, check_is_clean, hashrange
from hashrange.engine import keyspace
from hashrange.storage import LmdbStore, Plan, write_and_wait
from hashrange.values.ordered import after

ITEMS = 300


def item(number: int) -> dict[str, dict[str, str]]:
    return {
        "pk": {"S": f"partition-{number % 10}"},
        "sk": {"S": f"{number:04d}"},
        "version": {"N": str(number)},
        "group": {"S": f"group-{number % 3}"},
        "padding": {"S": "x" * 3000},
    }


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a table, to be copied by who wants to change it."""
    data = tmp_path_factory.mktemp("database") / "data"
    with Server(data) as server, Client(server.port) as client:
        client("CreateTable", **SCHEMA)
        for first in range(0, ITEMS, 25):
            puts = [{"PutRequest": {"Item": item(number)}} for number in range(first, first + 25)]
            client("BatchWriteItem", RequestItems={TABLE: puts})
        assert server.stop() == 0
    return data


@pytest.fixture
def data(database: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "data"
    store = LmdbStore.open(database, read_only=True)
    store.copy_to(copy, compact=False)
    store.close()
    return copy


def scanned(client: Client) -> list[str]:
    numbers: list[str] = []
    start: dict[str, object] = {}
    while True:
        page = client("Scan", TableName=TABLE, **start)
        numbers += [found["sk"]["S"] for found in page["Items"]]
        if "LastEvaluatedKey" not in page:
            return sorted(numbers)
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def test_a_sound_database_has_no_problems_and_is_not_changed(data: Path) -> None:
    before = (data / "data.mdb").read_bytes()
    check_is_clean(data)
    assert (data / "data.mdb").read_bytes() == before


def test_check_beside_a_running_server_neither_disturbs_nor_is_disturbed(data: Path) -> None:
    with Server(data, workers=2) as server, Client(server.port) as client:
        for number in range(3):
            client("PutItem", TableName=TABLE, Item=item(ITEMS + number))
            check_is_clean(data)
        assert len(scanned(client)) == ITEMS + 3
        assert server.stop() == 0


@pytest.mark.parametrize(
    ("kind", "value", "sentence"),
    [
        (keyspace.ITEM, b"", "is not a valid item"),
        (keyspace.ITEM, None, "has no item"),
        (keyspace.INDEX, None, "has no entry in index by-"),
        (keyspace.INDEX, b"\x01nonsense", "cannot be compared with its item"),
        (keyspace.COUNTER, (7).to_bytes(8, "little"), "counts 7 bytes, has"),
        (keyspace.COLLECTION, None, "item collection"),
        (keyspace.CATALOG, b"{}", "cannot be read"),
    ],
)
def test_a_damaged_record_is_found_and_told(data: Path, kind: bytes, value: bytes | None, sentence: str) -> None:
    store = LmdbStore.open(data)
    with store.read() as snapshot:
        record = next(key for key, _ in snapshot.scan(kind, after(kind)))
    write_and_wait(store, lambda snapshot: Plan([(record, value)]))
    store.close()
    code, output, errors = hashrange("check", "--data", data)
    assert (code, errors) == (1, "")
    *problems, total = output.splitlines()
    assert any(sentence in problem for problem in problems)
    assert all(problem.endswith(".") and problem.isprintable() for problem in problems)
    assert total == f"{len(problems)} problem{'s' if len(problems) > 1 else ''} found."


@pytest.mark.parametrize("damage", ["noise", "zeros", "cut"])
def test_a_damaged_file_is_told_in_a_sentence(data: Path, damage: str) -> None:
    file = data / "data.mdb"
    size = file.stat().st_size
    if damage == "cut":
        os.truncate(file, size // 2)
    else:
        with file.open("r+b") as stream:
            stream.seek(size // 3 // 4096 * 4096)
            stream.write((b"\xde" if damage == "noise" else b"\0") * 4096 * 40)
    code, output, _ = hashrange("check", "--data", data)
    assert code == 1
    assert "The database file is damaged" in output


def test_compact_gives_back_what_deletes_left_and_keeps_the_data(data: Path) -> None:
    with Server(data, "--durability", "none") as server, Client(server.port) as client:
        for number in range(ITEMS):
            if number % 10:
                client("DeleteItem", TableName=TABLE, Key={name: item(number)[name] for name in ("pk", "sk")})
        left = scanned(client)
        assert server.stop() == 0
    assert left == [f"{number:04d}" for number in range(0, ITEMS, 10)]
    before = (data / "data.mdb").stat().st_size
    code, output, errors = hashrange("compact", "--data", data)
    compacted = (data / "data.mdb").stat().st_size
    assert (code, errors) == (0, "")
    assert output == f"{data}: {before:,} bytes before, {compacted:,} bytes after.\n"
    assert compacted < before / 3
    check_is_clean(data)
    with Server(data) as server, Client(server.port) as client:
        assert scanned(client) == left
        client("PutItem", TableName=TABLE, Item=item(1))
        assert len(scanned(client)) == len(left) + 1


@pytest.mark.parametrize("workers", [1, 2])
def test_compact_is_refused_beside_a_running_server(data: Path, workers: int) -> None:
    with Server(data, workers=workers) as server, Client(server.port) as client:
        before = (data / "data.mdb").stat().st_ino  # its content may change: the server counts what it does
        said = f"hashrange: The database in {data} is in use by a running server; try again when that has ended.\n"
        assert hashrange("compact", "--data", data) == (2, "", said)
        assert (data / "data.mdb").stat().st_ino == before
        assert not (data / "data.mdb.partial").exists()
        assert len(scanned(client)) == ITEMS


def test_a_second_server_may_serve_the_same_database(data: Path) -> None:
    with Server(data) as one, Server(data) as other, Client(one.port) as client, Client(other.port) as another:
        client("PutItem", TableName=TABLE, Item=item(ITEMS))
        assert len(scanned(another)) == ITEMS + 1
        check_is_clean(data)


def test_a_copy_is_whole_and_can_be_taken_beside_a_running_server(tmp_path: Path) -> None:
    with Server(tmp_path / "data") as server, Client(server.port) as client:
        client("CreateTable", **SCHEMA)
        client("PutItem", TableName=TABLE, Item=item(1))
        code, output, errors = hashrange("copy", "--data", str(tmp_path / "data"), str(tmp_path / "copy"))
        assert (code, errors) == (0, "")
        assert output.startswith(f"{tmp_path / 'copy'}: ")
        client("PutItem", TableName=TABLE, Item=item(2))
    with Server(tmp_path / "copy") as server, Client(server.port) as client:
        assert client("Scan", TableName=TABLE)["Items"] == [item(1)]
    code, _, errors = hashrange("copy", "--data", str(tmp_path / "data"), str(tmp_path / "copy"))
    assert (code, errors) == (2, f"hashrange: There is a database in {tmp_path / 'copy'} already.\n")
