"""`hashrange serve --dev-clock` and `hashrange clock`: time that passes when it is told to."""

from __future__ import annotations

import http.client
import json
import re
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from crash.client import Client
from crash.server import Server, check_is_clean, hashrange
from hashrange.http.clock_control import is_local
from hashrange.http.exchange import Exchange

DAY = 24 * 3600
PATH = "/_hashrange/clock"
SCHEMA: dict[str, Any] = {
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}


def ask(port: int, method: str, body: object = None, **headers: str) -> tuple[int, Any]:
    """A request of its own connection, so that any worker may get it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    sent = body if body is None or isinstance(body, str) else json.dumps(body)
    connection.request(method, PATH, sent, {"Content-Type": "application/json", **headers})
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, json.loads(text) if response.status == 200 else text


def clock(server: Server, *arguments: str) -> tuple[int, str, str]:
    return hashrange("clock", *arguments, "--endpoint", server.url)


def created_now(port: int, name: str) -> float:
    """What time it is for the worker that answers."""
    with Client(port) as client:
        client("CreateTable", TableName=name, **SCHEMA)
        return float(client("DescribeTable", TableName=name)["Table"]["CreationDateTime"])


def test_items_expire_when_time_is_let_pass(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Server(data, "--dev-clock") as server, Client(server.port) as client:
        client("CreateTable", TableName="table", **SCHEMA)
        enabled = {"Enabled": True, "AttributeName": "expires"}
        client("UpdateTimeToLive", TableName="table", TimeToLiveSpecification=enabled)
        client("PutItem", TableName="table", Item={"pk": {"S": "a"}, "expires": {"N": str(int(time.time()) + DAY)}})
        code, output, errors = clock(server, "advance", "2d")
        assert (code, errors) == (0, "")
        assert re.fullmatch(r"\S+ \(172,800 s ahead of the machine's\)\n", output)
        ends_at = time.monotonic() + 10
        while client("Scan", TableName="table")["Count"]:
            assert time.monotonic() < ends_at
            time.sleep(0.05)
        history = hashrange("history", "table", '{"pk": "a"}', "--json", "--data", data)[1].splitlines()
        removal = json.loads(history[-1])
        assert (removal["event"], removal["origin"]) == ("REMOVE", "service")
        assert server.stop() == 0
    check_is_clean(data)


def test_all_workers_go_by_the_moved_time_and_so_do_later_servers(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Server(data, "--dev-clock", workers=2) as server:
        status, answer = ask(server.port, "POST", {"advance_seconds": 30 * DAY})
        assert (status, answer["offset_seconds"]) == (200, 30 * DAY)
        time.sleep(0.7)  # the other worker looks twice a second
        times = [created_now(server.port, f"table-{number}") for number in range(12)]
        assert all(abs(moment - time.time() - 30 * DAY) < 5 for moment in times)
        assert {ask(server.port, "GET")[1]["offset_seconds"] for _ in range(12)} == {30 * DAY}
        assert server.stop() == 0
    with Server(data, "--dev-clock") as server:
        assert ask(server.port, "GET")[1]["offset_seconds"] == 30 * DAY
        assert clock(server, "reset")[1].endswith(" (the machine's own time)\n")
        assert abs(created_now(server.port, "later") - time.time()) < 5
    check_is_clean(data)


def test_the_clock_can_be_set_and_reset(tmp_path: Path) -> None:
    with Server(None, "--dev-clock") as server:
        assert clock(server, "set", "2030-01-05T10:00:00Z")[1].startswith("2030-01-05T10:00:0")
        assert clock(server, "show")[1].startswith("2030-01-05T10:00:0")
        assert clock(server, "set", "+1h")[1].startswith("2030-01-05T11:00:0")
        created_now(server.port, "table")
        with Client(server.port) as client:
            client("PutItem", TableName="table", Item={"pk": {"S": "a"}})
        code, output, errors = clock(server, "reset")
        assert (code, output.endswith("(the machine's own time)\n")) == (0, True)
        assert errors.startswith("The clock is behind changes that were logged")


def test_without_the_option_there_is_no_clock_and_the_moved_time_is_forgotten(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Server(data, "--dev-clock") as server:
        assert ask(server.port, "POST", {"advance_seconds": DAY})[0] == 200
        assert server.stop() == 0
    with Server(data, workers=2) as server:
        assert ask(server.port, "GET")[0] == 404
        assert ask(server.port, "POST", {"advance_seconds": 1})[0] == 404
        assert clock(server, "show") == (
            2,
            "",
            f"hashrange: The clock of {server.url} cannot be moved: start it with --dev-clock.\n",
        )
        server.hears(lambda line: "the clock was moved by +86400 s; without --dev-clock it is reset" in line)
        assert abs(created_now(server.port, "table") - time.time()) < 5


@pytest.mark.parametrize(
    "body",
    [
        *("", "{", "[]", "{}"),
        *({"advance_seconds": value} for value in ("1h", True, None, -1e12)),
        *({"at": value} for value in ("now", 1e300, -1, 2**33)),
        *({"at": 1, "advance_seconds": 1}, {"to": 1}),
    ],
    ids=str,
)
def test_a_move_that_makes_no_sense_is_refused(dev_server: Server, body: object) -> None:
    status, text = ask(dev_server.port, "POST", body)
    assert status == 400
    assert text.startswith(("Send {", "The clock can be moved to any time"))
    assert ask(dev_server.port, "GET")[1]["offset_seconds"] == 0


def test_a_web_page_cannot_move_the_clock(dev_server: Server) -> None:
    assert ask(dev_server.port, "POST", {"advance_seconds": 1}, Origin="http://example.com")[0] == 403
    assert ask(dev_server.port, "PUT", {"advance_seconds": 1})[0] == 405
    assert ask(dev_server.port, "GET")[1]["offset_seconds"] == 0


@pytest.mark.parametrize(
    ("peer", "headers", "local"),
    [
        ("127.0.0.1", {}, True),
        ("127.9.9.9", {}, True),
        ("::1", {}, True),
        ("::ffff:127.0.0.1", {}, True),
        ("192.0.2.1", {}, False),
        ("::ffff:192.0.2.1", {}, False),
        ("", {}, False),
        ("127.0.0.1", {b"origin": b"null"}, False),
    ],
)
def test_only_programs_on_this_machine_reach_the_clock(peer: str, headers: dict[bytes, bytes], local: bool) -> None:
    assert is_local(cast(Exchange, SimpleNamespace(peer=peer, headers=headers))) is local


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("advance",), "advance and set take a VALUE; show and reset do not."),
        (("show", "1h"), "advance and set take a VALUE; show and reset do not."),
        (("advance", "soon"), "'soon' is not a duration such as 90s, 15m, 1h30m or 2d."),
        (("advance", "900000w"), "The clock can be moved to any time from 1970 to 2099."),
        (("set", "2120-01-01"), "The clock can be moved to any time from 1970 to 2099."),
    ],
)
def test_commands_that_make_no_sense(dev_server: Server, arguments: tuple[str, ...], said: str) -> None:
    assert clock(dev_server, *arguments) == (2, "", f"hashrange: {said}\n")


def test_a_server_that_is_not_there() -> None:
    code, _, errors = hashrange("clock", "show", "--endpoint", "http://127.0.0.1:1")
    assert (code, errors.startswith("hashrange: The server at http://127.0.0.1:1 does not answer: ")) == (2, True)


@pytest.fixture(scope="module")
def dev_server() -> Any:
    with Server(None, "--dev-clock") as server:
        yield server
