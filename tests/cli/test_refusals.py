"""What cannot work is refused: exit code 2, one line that says why, and nothing changed on disk."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import lmdb
import pytest

from crash.server import Server, hashrange
from hashrange.storage import LmdbStore
from hashrange.storage.environment import FORMAT_KEY


def contents(directory: Path) -> dict[str, bytes | None]:
    """Every file under a directory with its bytes, and every directory. Readers leave their mark in LMDB's lock."""
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() and path.name != "lock.mdb" else None
        for path in directory.rglob("*")
    }


def refuses(directory: Path, *arguments: object, env: dict[str, str] | None = None) -> str:
    """The one line that a command is refused with, having changed nothing in `directory`, where it runs."""
    before = contents(directory)
    code, output, errors = hashrange(*arguments, cwd=directory, env=env)
    assert (code, output) == (2, "")
    assert contents(directory) == before
    assert errors.startswith("hashrange: ")
    assert errors.endswith(".\n")
    assert errors.count("\n") == 1
    return errors.removeprefix("hashrange: ").rstrip("\n")


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_port_that_is_taken(tmp_path: Path, taken_port: int, workers: int) -> None:
    said = refuses(tmp_path, "serve", "--port", taken_port, "--data", "data", "--workers", workers)
    assert said == f"Port {taken_port} on 127.0.0.1 is taken: another server is listening there."


@pytest.mark.parametrize("workers", [1, 2])
def test_the_port_of_another_hashrange(tmp_path: Path, workers: int) -> None:
    with Server(None) as server:
        said = refuses(tmp_path, "serve", "--port", server.port, "--workers", workers)
        assert said.startswith(f"Port {server.port} on 127.0.0.1 is taken")


def test_an_address_of_another_machine(tmp_path: Path) -> None:
    assert refuses(tmp_path, "serve", "--host", "192.0.2.1") == "192.0.2.1 is not an address of this machine."


@pytest.mark.parametrize("command", ["serve", "check", "compact"])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_data_directory_that_is_a_file(tmp_path: Path, command: str, workers: int) -> None:
    (tmp_path / "data").write_text("mine")
    serve_options = ("--port", 0, "--workers", workers) if command == "serve" else ()
    said = refuses(tmp_path, command, "--data", "data", *serve_options)
    assert said == "The data directory data is not a directory."


@pytest.mark.parametrize("command", ["serve", "check", "compact"])
def test_a_directory_of_somebody_else(tmp_path: Path, command: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "letter.txt").write_text("Dear")
    said = refuses(tmp_path, command, "--data", "data", *(("--port", 0) if command == "serve" else ()))
    assert said == (
        "The directory data holds letter.txt and no Hashrange database: "
        "choose an empty directory or one that does not exist yet."
    )


@pytest.mark.parametrize("command", ["serve", "check", "compact"])
def test_a_database_of_a_newer_version(tmp_path: Path, command: str) -> None:
    data = tmp_path / "data"
    LmdbStore.open(data).close()
    with lmdb.open(str(data)) as environment, environment.begin(write=True) as transaction:
        transaction.put(FORMAT_KEY, b"7")
    said = refuses(tmp_path, command, "--data", "data", *(("--port", 0) if command == "serve" else ()))
    assert said == (
        "The database in data was written by a newer version of Hashrange "
        "(format 7; this version knows formats up to 1)."
    )


@pytest.mark.parametrize("command", ["serve", "check", "compact"])
def test_a_file_that_is_no_database(tmp_path: Path, command: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "data.mdb").write_bytes(b"not a database" * 1000)
    said = refuses(tmp_path, command, "--data", "data", *(("--port", 0) if command == "serve" else ()))
    assert said.startswith("The file data/data.mdb is not a Hashrange database, or it is damaged")


@pytest.mark.parametrize("command", ["check", "compact"])
def test_a_database_that_is_not_there(tmp_path: Path, command: str) -> None:
    assert refuses(tmp_path, command, "--data", "nowhere") == "There is no Hashrange database in nowhere."
    assert refuses(tmp_path, command) == "There is no Hashrange database in hashrange-data."


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "no permission to write" in refuses(tmp_path, "serve", "--port", 0, "--data", "data")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--memory --data data", "Choose one of --data and --memory."),
        ("--memory --workers 2", "--memory keeps the data in one process; it cannot be shared by --workers."),
        ("--workers -1", "--workers cannot be negative."),
        ("--port 65536", "--port must be between 0 and 65535."),
        ("--account 12345", "--account must be twelve digits."),
        ("--account ²²²²²²²²²²²²", "--account must be twelve digits."),
        ("--table-delay-ms -1", "A delay cannot be negative."),
        ("--sync-interval-ms 0", "--sync-interval-ms must be at least 1."),
        ("--max-connections 0", "--max-connections and --item-collection-mb must be at least 1."),
        ("--idle-timeout nan", "--idle-timeout and --request-timeout must be more than 0."),
        ("--tls-cert cert.pem", "--tls-cert and --tls-key go together."),
        ("--tls-cert c --tls-key k --tls-self-signed", "Choose one of --tls-cert and --tls-self-signed."),
        ("--tls-client-ca ca.pem", "--tls-client-ca needs --tls-cert and --tls-key, or --tls-self-signed."),
        ("--memory-mb 31", "--memory-mb must be at least 32: two of the largest requests."),
        ("--tls-cert cert.pem --tls-key key.pem", "Cannot read cert.pem: No such file or directory."),
        ("--config other.toml", "There is no configuration file other.toml."),
    ],
)
def test_options_that_cannot_work(tmp_path: Path, options: str, sentence: str) -> None:
    assert refuses(tmp_path, "serve", *options.split()) == sentence


@pytest.mark.parametrize("options", ["--port many", "--durability perhaps", "--colour blue", ""])
def test_a_mistyped_command_line_is_answered_with_the_usage(tmp_path: Path, options: str) -> None:
    code, output, errors = hashrange(*(("serve", *options.split()) if options else ()), cwd=tmp_path)
    assert (code, output) == (2, "")
    assert errors.startswith("usage: hashrange")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("port = ", "The configuration file hashrange.toml cannot be read: "),
        ("port = 1\nport = 2", "The configuration file hashrange.toml cannot be read: "),
        ("prot = 8000", "hashrange.toml: there is no option 'prot'."),
        ("[serve]\nport = 8000", "hashrange.toml: there is no option 'serve'."),
        ('port = "many"', "configuration file: 'many' is not a valid port."),
        ("port = 80.5", "configuration file: 80.5 is not a valid port."),
        ("workers = true", "configuration file: True is not a valid workers."),
        ('data = ["a"]', "configuration file: ['a'] is not a valid data."),
        ('memory = "perhaps"', "configuration file: 'perhaps' is neither true nor false."),
        ('log-level = "loud"', "configuration file: 'loud' is not one of debug, info, warning, error."),
    ],
)
def test_a_configuration_file_that_cannot_work(tmp_path: Path, file: str, sentence: str) -> None:
    (tmp_path / "hashrange.toml").write_text(file)
    said = refuses(tmp_path, "serve")
    assert said.startswith(sentence) if sentence.endswith(": ") else said == sentence


@pytest.mark.parametrize("command", ["check", "compact"])
def test_the_other_commands_read_the_configuration_file_as_strictly(tmp_path: Path, command: str) -> None:
    (tmp_path / "hashrange.toml").write_text("data = 5")
    assert refuses(tmp_path, command) == "configuration file: 5 is not a valid data."


def test_a_configuration_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "hashrange.toml").write_bytes(b"\xff\xfe")
    assert refuses(tmp_path, "serve").startswith("The configuration file hashrange.toml cannot be read: ")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("PORT", "many", "HASHRANGE_PORT: 'many' is not a valid port."),
        ("MEMORY", "perhaps", "HASHRANGE_MEMORY: 'perhaps' is neither true nor false."),
        ("DURABILITY", "high", "HASHRANGE_DURABILITY: 'high' is not one of sync, relaxed, none."),
        ("CONFIG", "other.toml", "There is no configuration file other.toml."),
    ],
)
def test_an_environment_that_cannot_work(tmp_path: Path, name: str, value: str, sentence: str) -> None:
    assert refuses(tmp_path, "serve", env={f"HASHRANGE_{name}": value}) == sentence
