"""`hashrange cost`, beside a running server."""

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
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}
SECONDS_MAX = 15.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A table on demand, with traffic, and a provisioned one that nobody uses."""
    with Server(tmp_path_factory.mktemp("cost") / "data") as running, Client(running.port) as client:
        client("CreateTable", TableName="busy", BillingMode="PAY_PER_REQUEST", **SCHEMA)
        units = {"ReadCapacityUnits": 10, "WriteCapacityUnits": 10}
        client("CreateTable", TableName="idle", ProvisionedThroughput=units, **SCHEMA)
        for number in range(20):
            client("PutItem", TableName="busy", Item={"pk": {"S": str(number)}, "x": {"S": "x" * 2000}})
        for _ in range(5):
            client("Scan", TableName="busy", FilterExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "1"}})
        ends_at = time.monotonic() + SECONDS_MAX
        while priced(running, "busy")["read_units"] < 25:
            assert time.monotonic() < ends_at, "the traffic is never seen"
            time.sleep(0.2)
        yield running


def cost(server: Server, *arguments: object) -> tuple[int, str, str]:
    return hashrange("cost", *arguments, "--data", server.data)


def priced(server: Server, *arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(cost(server, "--json", *arguments)[1])["tables"][0]
    return found


def test_a_table_is_priced_in_every_mode(server: Server) -> None:
    found = priced(server, "busy")
    assert (found["read_units"], found["write_units"]) == (25.0, 40.0)
    modes = {(option["mode"], option["table_class"]) for option in found["options"]}
    classes = ("STANDARD", "STANDARD_INFREQUENT_ACCESS")
    kinds = ("on demand", "provisioned", "provisioned, auto scaling")
    assert modes == {(mode, each) for mode in kinds for each in classes}
    assert found["current"]["mode"] == "on demand"
    assert [finding["subject"] for finding in found["findings"]] == ["Scan", "filters of Scan"]


def test_people_are_told_what_to_do(server: Server) -> None:
    code, output, errors = cost(server, "busy")
    assert (code, errors) == (0, "")
    assert output.startswith("Table busy: 25.0 read units and 40.0 write units in ")
    assert "That is less than a day" in output
    assert "on demand (now)" in output
    assert "Of 100 items that were read only 5 were returned." in output


def test_a_provisioned_table_that_nobody_uses_is_cheaper_on_demand(server: Server) -> None:
    code, output, _ = cost(server, "idle")
    assert code == 0
    assert "Cheapest: on demand, $0.00 a month instead of $5.69 for provisioned, as declared." in output
    assert "That saves $5.69, 100%." in output


def test_all_tables_are_summed(server: Server) -> None:
    code, output, _ = cost(server)
    assert code == 0
    assert [line.split()[0] for line in output.splitlines()[:4]] == ["Table", "busy", "idle", "all"]


def test_prices_can_be_changed(server: Server, tmp_path: Path) -> None:
    _, prices, _ = hashrange("cost", "--print-prices")
    file = tmp_path / "mine.toml"
    file.write_text(prices.replace("read_unit_hour = 0.00013", "read_unit_hour = 1"))
    assert priced(server, "idle", "--prices", file)["current"]["total_monthly"] == pytest.approx(
        730 * (10 * 1 + 10 * 0.00065)
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("nope",), "There is no table nope in region us-east-1"),
        (("--days", "0"), "--days must be more than 0 and at most 15"),
        (("--days", "nan"), "--days must be more than 0 and at most 15"),
        (("--prices", "no-such-file.toml"), "[Errno 2] No such file"),
    ],
)
def test_what_cannot_be_priced_is_refused(server: Server, arguments: tuple[str, ...], text: str) -> None:
    code, output, errors = cost(server, *arguments)
    assert (code, output) == (2, "")
    assert errors.startswith(f"hashrange: {text}")
