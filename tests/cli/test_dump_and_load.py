"""`hashrange dump` and `hashrange load`, with and without a server."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from crash.client import Client
from crash.owner import SCHEMA
from crash.server import HASHRANGE, Server, check_is_clean, environment, hashrange

TABLE = "versions"
ITEMS = 700
HEADER = {"Table": {name: value for name, value in SCHEMA.items() if name != "TableName"}}


def item(number: int, **attributes: Any) -> dict[str, Any]:
    return {
        "pk": {"S": f"partition-{number % 10}"},
        "sk": {"S": f"{number:04d}"},
        "version": {"N": str(number)},
        "group": {"S": f"group-{number % 3}"},
        **attributes,
    }


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def items_of(text: str) -> list[Any]:
    return sorted((json.loads(line)["Item"] for line in text.splitlines() if '"Item"' in line), key=str)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "items.jsonl", HEADER, *({"Item": item(number)} for number in range(ITEMS)))


@pytest.fixture
def data(tmp_path: Path, file: Path) -> Path:
    """A database with a table of items, loaded."""
    directory = tmp_path / "data"
    said = hashrange("load", TABLE, file, "--data", directory, "--create")
    assert said == (0, "", f"{ITEMS} items were loaded into {TABLE}.\n")
    return directory


def dumped(*where: object) -> list[Any]:
    code, output, errors = hashrange("dump", TABLE, "-", *where)
    assert code == 0, errors
    return items_of(output)


def test_what_was_dumped_loads_into_an_equal_table(tmp_path: Path, data: Path, file: Path) -> None:
    check_is_clean(data)
    archive = tmp_path / "items.jsonl.gz"
    said = hashrange("dump", TABLE, archive, "--data", data)
    assert said == (0, "", f"{ITEMS} items of {TABLE} were written to {archive}.\n")
    assert items_of(gzip.decompress(archive.read_bytes()).decode()) == items_of(file.read_text())
    other = tmp_path / "other"
    assert hashrange("load", "copies", archive, "--data", other, "--create")[0] == 0
    check_is_clean(other)
    with Server(other) as server, Client(server.port) as client:
        copy = client("DescribeTable", TableName="copies")["Table"]
        assert copy["ItemCount"] == ITEMS
        assert [index["IndexName"] for index in copy["GlobalSecondaryIndexes"]] == ["by-group"]
        assert [index["ItemCount"] for index in copy["LocalSecondaryIndexes"]] == [ITEMS]


def test_a_running_server_is_dumped_and_loaded_through_its_endpoint(tmp_path: Path, file: Path) -> None:
    with Server(None) as server:
        where = ("--endpoint", server.url)
        assert hashrange("load", TABLE, file, *where) == (
            2,
            "",
            f"hashrange: There is no table {TABLE}. --create makes it as the file's first line says.\n",
        )
        assert hashrange("load", TABLE, file, "--create", *where)[0] == 0
        assert dumped(*where) == items_of(file.read_text())
        assert hashrange("load", TABLE, file, "--account", "123456789012", *where)[0] == 2
        bad = write(tmp_path / "bad", {"Item": item(1)}, {"Item": item(1)}, {"Item": item(2, version={"S": "x"})})
        code, _, errors = hashrange("load", TABLE, bad, *where)
    assert code == 1
    assert "bad line: line 3: " in errors
    assert errors.endswith(f"Stopped: 2 items were loaded into {TABLE}.\n")


def test_a_directory_with_a_server_on_it_can_be_dumped_but_not_loaded(data: Path, file: Path) -> None:
    with Server(data):
        assert len(dumped("--data", data)) == ITEMS
        code, _, errors = hashrange("load", TABLE, file, "--data", data)
    assert code == 2
    assert "is in use by a running server" in errors
    assert errors.endswith("Or go through the server, with --endpoint URL.\n")


def test_later_lines_replace_earlier_ones_and_the_table_stays_sound(tmp_path: Path, data: Path) -> None:
    lines = [{"Item": item(1, group={"S": f"group-{turn}"})} for turn in range(5)]
    assert hashrange("load", TABLE, write(tmp_path / "more", *lines), "--data", data)[0] == 0
    assert item(1, group={"S": "group-4"}) in dumped("--data", data)
    check_is_clean(data)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"Item": {"pk"\n', "This is not JSON: "),
        ('{"Item": {"pk"', "The file ends here; perhaps a part of it is missing."),
        ("[]\n", 'This is not {"Item": {...}}.'),
        ('{"Item": {}, "Keys": {}}\n', 'This is not {"Item": {...}}.'),
        ('{"Item": {"pk": "a", "sk": "b"}}\n', 'A value is not in DynamoDB JSON, such as {"S": "text"} or {"N": "1"}.'),
        ('{"Item": {"pk": {"S": "a"}}}\n', "Missing the key sk in the item"),
        ('{"Item": {"pk": {"S": "a"}, "sk": {"N": "1"}}}\n', "Type mismatch for key sk expected: S actual: N"),
        ('{"Item": {"pk": {"S": "a"}, "sk": {"S": "b"}, "n": {"N": "x"}}}\n', "cannot be converted to a numeric value"),
        ('{"Item": {"pk": {"S": "a"}, "sk": {"S": "b"}, "version": {"S": "x"}}}\n', "Type mismatch for Index Key"),
    ],
)
def test_a_bad_line_is_named_and_what_comes_before_it_is_loaded(
    tmp_path: Path, data: Path, line: str, why: str
) -> None:
    before = [{"Item": item(number)} for number in range(9000, 9003)]
    bad = write(tmp_path / "bad", before[0], "\n", *before[1:], line, *([] if line[-1] != "\n" else [before[0]]))
    code, _, errors = hashrange("load", TABLE, bad, "--data", data)
    assert code == 1
    assert errors.startswith("hashrange: The file has a bad line: line 5: ")
    assert why in errors
    assert errors.endswith(f"Stopped: 3 items were loaded into {TABLE}.\n")
    assert len(dumped("--data", data)) == ITEMS + 3


def test_a_compressed_file_that_is_cut_short_is_told(tmp_path: Path, data: Path, file: Path) -> None:
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(file.read_bytes())[:-1000])
    code, _, errors = hashrange("load", TABLE, cut, "--data", data)
    assert code == 1
    assert "The file cannot be read further: " in errors
    check_is_clean(data)


def test_a_load_that_cannot_begin_is_refused(tmp_path: Path, data: Path, file: Path) -> None:
    nothing = write(tmp_path / "nothing", {"Item": item(1)})
    broken = write(tmp_path / "broken", {"Table": {"KeySchema": []}})
    for arguments, said in (
        ((TABLE, tmp_path / "missing"), f"Cannot read {tmp_path / 'missing'}: No such file or directory."),
        (("others", nothing), "There is no table others."),
        (("others", nothing, "--create"), f'{nothing} has no first line {{"Table": ...}} to create the table from.'),
        (("others", broken, "--create"), "The table cannot be created: "),
        ((TABLE, file, "--endpoint", "http://127.0.0.1:1"), "The server at http://127.0.0.1:1 does not answer: "),
        ((TABLE, file, "--endpoint", "ftp://x"), "'ftp://x' is not an endpoint such as http://127.0.0.1:8000."),
    ):
        code, output, errors = hashrange("load", *arguments, "--data", data)
        assert (code, output) == (2, ""), errors
        assert errors.startswith(f"hashrange: {said}")
        assert errors.count("\n") == 1
    assert len(dumped("--data", data)) == ITEMS


def test_half_a_dump_never_has_the_name_of_a_whole_one(tmp_path: Path, data: Path) -> None:
    target = tmp_path / "items.jsonl"
    before = target.read_text()
    assert hashrange("dump", "others", target, "--data", data)[0] == 2
    assert target.read_text() == before
    assert not list(tmp_path.glob("*.partial"))
    assert hashrange("dump", TABLE, tmp_path / "no" / "where", "--data", data)[0] == 2


def test_ctrl_c_ends_a_load_with_what_was_loaded_and_a_sound_database(tmp_path: Path, data: Path) -> None:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [*HASHRANGE, "load", TABLE, "-", "--data", str(data)],
        stdin=reading,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        cwd=tempfile.gettempdir(),
    )
    os.close(reading)
    with os.fdopen(writing, "w") as feed:
        for number in range(1000, 5000):
            feed.write(json.dumps({"Item": item(number)}) + "\n")
        feed.flush()
        time.sleep(0.5)  # everything was read, and the loader waits for more
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 1
    assert errors.startswith("hashrange: Interrupted.\nStopped: ")
    check_is_clean(data)
    loaded = int(errors.split("Stopped: ")[1].split()[0].replace(",", ""))
    assert loaded > 0
    assert len(dumped("--data", data)) == ITEMS + loaded


def test_output_that_nobody_reads_any_more_is_no_accident(data: Path) -> None:
    command = f"{' '.join(HASHRANGE)} scan {TABLE} --data {data} | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env=environment(), timeout=20, check=False
    )
    assert (done.stderr, done.stdout.count("\n")) == ("", 1)
