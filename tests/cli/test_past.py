"""`hashrange get`, `scan` and `history`, beside a running server."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crash.client import Client
from crash.server import Server, hashrange

KEY = '{"pk": "ada", "sk": 1}'
SCHEMA: dict[str, Any] = {
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
}


def stream(view: str) -> dict[str, Any]:
    return {"StreamEnabled": True, "StreamViewType": view}


def item(**attributes: Any) -> dict[str, Any]:
    return {"pk": {"S": "ada"}, "sk": {"N": "1"}, **attributes}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("past") / "data") as running, Client(running.port) as client:
        client("CreateTable", TableName="logged", StreamSpecification=stream("NEW_AND_OLD_IMAGES"), **SCHEMA)
        client("CreateTable", TableName="keys", StreamSpecification=stream("KEYS_ONLY"), **SCHEMA)
        client("CreateTable", TableName="plain", **SCHEMA)
        for table in ("logged", "keys", "plain"):
            client("PutItem", TableName=table, Item=item(tea={"S": "green"}, cups={"N": "1"}))
        yield running


@pytest.fixture(scope="module")
def before(server: Server) -> str:
    """A moment after which the items were changed."""
    time.sleep(0.01)
    moment = f"{time.time():.6f}"
    time.sleep(0.01)
    with Client(server.port) as client:
        client("PutItem", TableName="logged", Item=item(cups={"N": "2"}, note={"M": {"a": {"BOOL": True}}}))
        client("DeleteItem", TableName="logged", Key=item())
        client("PutItem", TableName="logged", Item={"pk": {"S": "eve"}, "sk": {"N": "2"}})
    return moment


def run(server: Server, *arguments: object) -> tuple[int, str, str]:
    return hashrange(*arguments, "--data", server.data)


def test_an_item_as_it_is_and_as_it_was(server: Server, before: str) -> None:
    assert run(server, "get", "logged", KEY) == (1, "", "There is no such item.\n")
    code, output, errors = run(server, "get", "logged", KEY, "--as-of", before)
    assert (code, json.loads(output), errors) == (0, item(tea={"S": "green"}, cups={"N": "1"}), "")
    eve = '{"pk": "eve", "sk": 2}'
    assert run(server, "get", "logged", eve, "--as-of", before) == (1, "", "There was no such item.\n")
    assert run(server, "get", "logged", eve)[0] == 0


def test_a_table_as_it_is_and_as_it_was(server: Server, before: str) -> None:
    code, output, _ = run(server, "scan", "logged", "--as-of", before)
    assert (code, [json.loads(line) for line in output.splitlines()]) == (
        0,
        [{"Item": item(tea={"S": "green"}, cups={"N": "1"})}],
    )
    assert run(server, "scan", "logged")[1] == '{"Item":{"pk":{"S":"eve"},"sk":{"N":"2"}}}\n'


def test_the_history_of_an_item_for_people(server: Server, before: str) -> None:
    code, output, errors = run(server, "history", "logged", KEY)
    assert (code, errors) == (0, "")
    lines = [line if line.startswith(" ") else line.partition("  ")[2] for line in output.splitlines()]
    assert lines == [
        "INSERT  by a client",
        '  + pk: "ada"',
        "  + sk: 1",
        '  + tea: "green"',
        "  + cups: 1",
        "MODIFY  by a client",
        '  + note: {"a": true}',
        "  ~ cups: 1 -> 2",
        '  - tea: "green"',
        "REMOVE  by a client",
        '  - pk: "ada"',
        "  - sk: 1",
        "  - cups: 2",
        '  - note: {"a": true}',
    ]


def test_the_history_of_an_item_for_machines(server: Server, before: str) -> None:
    code, output, _ = run(server, "history", "logged", KEY, "--json")
    versions = [json.loads(line) for line in output.splitlines()]
    assert (code, [version["event"] for version in versions]) == (0, ["INSERT", "MODIFY", "REMOVE"])
    assert versions[1]["differences"] == {
        "added": {"note": {"M": {"a": {"BOOL": True}}}},
        "changed": {"cups": {"old": {"N": "1"}, "new": {"N": "2"}}},
        "removed": {"tea": {"S": "green"}},
    }
    assert versions[0]["new"] == versions[1]["old"]
    assert {version["origin"] for version in versions} == {"user"}


def test_a_table_that_is_not_logged_is_said_not_to_be(server: Server) -> None:
    keeping = "Enable a stream of NEW_AND_OLD_IMAGES or point-in-time recovery to keep it from then on.\n"
    assert run(server, "history", "plain", KEY) == (1, "", f"The past of table plain is not logged. {keeping}")
    assert run(server, "get", "plain", KEY)[0] == 0
    for table in ("plain", "keys"):
        for command in (("get", table, KEY), ("scan", table)):
            refused = (2, "", f"hashrange: The past of table {table} is not kept. {keeping}")
            assert run(server, *command, "--as-of", "now") == refused


def test_a_log_without_images_says_so(server: Server) -> None:
    code, output, _ = run(server, "history", "keys", KEY)
    assert (code, output.splitlines()[1:]) == (0, ["  (the log kept only the key of this change)"])


def test_moments_that_nobody_knows_are_refused(server: Server) -> None:
    code, _, errors = run(server, "scan", "logged", "--as-of", "-1h")
    assert code == 2
    assert errors.startswith("hashrange: Table logged is known from ")
    code, _, errors = run(server, "scan", "logged", "--as-of", "+1h")
    assert (code, errors.endswith("lies in the future.\n")) == (2, True)


def test_what_is_not_there_is_refused_with_what_is(server: Server) -> None:
    assert run(server, "scan", "other") == (
        2,
        "",
        "hashrange: There is no table other in region us-east-1 of account 000000000000: "
        "its tables are keys, logged, plain.\n",
    )
    code, _, errors = run(server, "scan", "logged", "--region", "eu-west-1")
    assert (code, errors.endswith("of account 000000000000: it has none.\n")) == (2, True)
    code, _, errors = run(server, "get", "logged", "ada")
    assert (code, errors) == (2, 'hashrange: The key of logged looks like {"pk": "text", "sk": 1}, not ada.\n')


@pytest.mark.parametrize("command", [("get", "orders", KEY), ("scan", "orders"), ("history", "orders", KEY)])
def test_a_database_that_is_not_there(tmp_path: Path, command: tuple[str, ...]) -> None:
    said = hashrange(*command, "--data", tmp_path / "nowhere")
    assert said == (2, "", f"hashrange: There is no Hashrange database in {tmp_path / 'nowhere'}.\n")
    assert list(tmp_path.iterdir()) == []
