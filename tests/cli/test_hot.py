"""`hashrange hot`, beside a running server and through it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crash.client import Client
from crash.server import Server, hashrange

SCHEMA: dict[str, Any] = {
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "customer", "AttributeType": "S"},
        {"AttributeName": "placed", "AttributeType": "N"},
    ],
    "KeySchema": [
        {"AttributeName": "customer", "KeyType": "HASH"},
        {"AttributeName": "placed", "KeyType": "RANGE"},
    ],
}
SECONDS_MAX = 15.0


def key(customer: str, placed: int) -> dict[str, Any]:
    return {"customer": {"S": customer}, "placed": {"N": str(placed)}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Two workers, both of which have seen some of: five reads of Ada, two writes of Bob, one of a tab."""
    with Server(tmp_path_factory.mktemp("hot") / "data", workers=2) as running:
        with Client(running.port) as client:
            for name in ("orders", "quiet"):
                client("CreateTable", TableName=name, **SCHEMA)
            client("UpdateContributorInsights", TableName="orders", ContributorInsightsAction="ENABLE")
        for number in range(5):
            with Client(running.port) as client:
                client("GetItem", TableName="orders", Key=key("ada", number), ConsistentRead=True)
        for number in range(2):
            with Client(running.port) as client:
                client("PutItem", TableName="orders", Item=key("bob", number))
        with Client(running.port) as client:
            client("GetItem", TableName="orders", Key=key("a\tb", 1))
        ends_at = time.monotonic() + SECONDS_MAX
        while sum(each["weight"] for each in hot(running, "orders", "--json")) < 11.5:
            assert time.monotonic() < ends_at, "the keys are never seen"
            time.sleep(0.2)
        yield running


def hot(server: Server, *arguments: object) -> list[dict[str, Any]]:
    _, output, _ = hashrange("hot", *arguments, "--data", server.data)
    found: list[dict[str, Any]] = json.loads(output)["keys"]
    return found


def test_the_most_used_keys_come_first(server: Server) -> None:
    code, output, errors = hashrange("hot", "orders", "--partitions", "--data", server.data)
    assert (code, errors) == (0, "")
    lines = output.splitlines()
    assert lines[0] == "The keys of table orders that were used most in the last 60 minutes:"
    assert [line.split() for line in lines[1:5]] == [
        ["customer", "Weight", "Share"],
        ["bob", "6", "52.2%"],
        ["ada", "5", "43.5%"],
        ['"a\\tb"', "0.5", "4.3%"],
    ]
    assert lines[5] == "In all: 11.5 weight (1 for a read unit, 3 for a write unit), at 3 or more keys."


def test_items_are_told_apart_by_their_sort_keys(server: Server) -> None:
    found = hot(server, "orders", "--json", "--top", 2)
    assert found == [{"key": ["bob", "0"], "weight": 3.0}, {"key": ["bob", "1"], "weight": 3.0}]


def test_a_server_tells_the_same(server: Server) -> None:
    for options in ([], ["--partitions"]):
        code, output, errors = hashrange("hot", "orders", "--json", "--endpoint", server.url, *options)
        assert (code, errors) == (0, "")
        assert json.loads(output)["keys"] == hot(server, "orders", "--json", *options)


@pytest.mark.parametrize("place", ["--data", "--endpoint"])
def test_a_table_that_is_not_watched_says_how_to_begin(server: Server, place: str) -> None:
    value = server.data if place == "--data" else server.url
    code, output, errors = hashrange("hot", "quiet", place, value)
    assert (code, output) == (1, "")
    assert errors.splitlines()[0] == "No key of table quiet was seen used in the last 60 minutes."
    assert "update-contributor-insights --contributor-insights-action ENABLE --table-name quiet" in errors


def test_nothing_throttled_is_an_answer(server: Server) -> None:
    code, _, errors = hashrange("hot", "orders", "--throttled", "--data", server.data)
    assert (code, errors) == (1, "No key of table orders was seen throttled in the last 60 minutes.\n")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("nope",), "There is no table nope in region us-east-1"),
        (("orders", "--index", "nope"), "Table orders has no global secondary index nope; it has: none."),
        (("orders", "--minutes", "0"), "--minutes must be from 1 to 1440: keys are kept for a day."),
        (("orders", "--top", "101"), "--top must be from 1 to 100."),
    ],
)
def test_what_cannot_be_asked_is_refused(server: Server, arguments: tuple[str, ...], text: str) -> None:
    code, output, errors = hashrange("hot", *arguments, "--data", server.data)
    assert (code, output) == (2, "")
    assert errors.startswith(f"hashrange: {text}")


def test_a_server_that_refuses_is_quoted(server: Server) -> None:
    code, _, errors = hashrange("hot", "nope", "--endpoint", server.url)
    assert code == 2
    assert "Requested resource not found: Table: nope not found" in errors


def test_there_must_be_a_database(tmp_path: Path) -> None:
    assert hashrange("hot", "orders", "--data", tmp_path / "none")[0] == 2
