"""A server as a person meets it: how soon it answers, what it logs, how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import threading
import time
from pathlib import Path

import orjson
import pytest

from crash.client import HEADERS, Client, Refused
from crash.server import Server, check_is_clean, hashrange

TABLE = "burst"
CONNECTIONS = 8
REQUESTS = 50  # on each connection, all sent before the first is answered


def create_table(client: Client) -> None:
    client(
        "CreateTable",
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )


def put_request(name: str) -> bytes:
    body = orjson.dumps({"TableName": TABLE, "Item": {"pk": {"S": name}, "padding": {"S": "x" * 200}}})
    lines = {**HEADERS, "X-Amz-Target": "DynamoDB_20120810.PutItem", "Host": "localhost", "Content-Length": len(body)}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST / HTTP/1.1\r\n{head}\r\n".encode() + body


def read_to_the_end(sock: socket.socket) -> bytes:
    received = b""
    while chunk := sock.recv(65536):
        received += chunk
    return received


def wait_for(sock: socket.socket) -> None:
    """Wait until something can be read, without reading it."""
    sock.recv(1, socket.MSG_PEEK)


def test_nothing_takes_the_place_of_an_input_that_is_closed(tmp_path: Path) -> None:
    with Server(tmp_path / "data", workers=0, before=lambda: os.close(0)) as server:
        assert os.readlink(f"/proc/{server.process.pid}/fd/0") == os.devnull


@pytest.mark.parametrize("data", [True, False], ids=["on-disk", "in-memory"])
def test_a_new_server_answers_soon_and_is_small(
    tmp_path: Path, data: bool, record_property: pytest.RecordProperty
) -> None:
    with Server(tmp_path / "data" if data else None) as server, Client(server.port) as client:
        client("ListTables")
        seconds = time.monotonic() - server.started_at
        status = Path(f"/proc/{server.process.pid}/status")
        resident = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
        resident_mb = int(resident[1]) / 1024 if resident else 0.0
    record_property("start_seconds", seconds)
    record_property("resident_mb", resident_mb)
    print(f"first answer after {seconds:.3f} s, {resident_mb:.1f} MB resident")
    assert seconds < 2.0
    assert resident_mb < 150


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_signal_ends_the_server_after_what_it_has_accepted(tmp_path: Path, number: int, workers: int) -> None:
    data = tmp_path / "data"
    with Server(data, workers=workers) as server:
        with Client(server.port) as client:
            create_table(client)
        sockets = [socket.create_connection(("127.0.0.1", server.port), timeout=20) for _ in range(CONNECTIONS)]
        for index, sock in enumerate(sockets):
            sock.sendall(b"".join(put_request(f"{index}-{number}") for number in range(REQUESTS)))
        for sock in sockets:
            wait_for(sock)  # each connection was accepted, and its requests are under way
        assert server.stop(number) == 0
        answers = [read_to_the_end(sock) for sock in sockets]
        for sock in sockets:
            sock.close()
    assert [answer.count(b"HTTP/1.1 200 OK\r\n") for answer in answers] == [REQUESTS] * CONNECTIONS
    check_is_clean(data)
    with Server(data) as server, Client(server.port) as client:
        assert client("Scan", TableName=TABLE, Select="COUNT")["Count"] == CONNECTIONS * REQUESTS


def test_a_server_that_stops_under_load_tells_the_truth_about_every_write(tmp_path: Path) -> None:
    """Clients that go on sending get an answer or a closed connection; what was answered is there."""
    data = tmp_path / "data"
    answered: list[str] = []
    refused: list[Refused] = []

    def write(thread: int) -> None:
        with Client(server.port) as client:
            for turn in range(100_000):
                try:
                    client("PutItem", TableName=TABLE, Item={"pk": {"S": f"{thread}-{turn}"}})
                except Refused as error:
                    refused.append(error)
                    return
                except Exception:
                    return
                answered.append(f"{thread}-{turn}")

    with Server(data, workers=2) as server:
        with Client(server.port) as client:
            create_table(client)
        threads = [threading.Thread(target=write, args=(thread,)) for thread in range(6)]
        for thread in threads:
            thread.start()
        time.sleep(0.4)
        asked_at = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - asked_at < 5
        for thread in threads:
            thread.join(20)
    assert not refused
    assert len(answered) > 50
    with Server(data) as server, Client(server.port) as client:
        kept = {item["pk"]["S"] for item in client("Scan", TableName=TABLE)["Items"]}
        assert kept >= set(answered)
        assert len(kept - set(answered)) <= len(threads)  # one under way on each connection


@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_under_nohup_outlives_its_terminal(tmp_path: Path, workers: int) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with Server(tmp_path / "data", workers=workers, before=ignore) as server:
        server.process.send_signal(signal.SIGHUP)
        with Client(server.port) as client:
            client("ListTables")
        assert server.process.poll() is None
        assert server.stop() == 0


def test_idle_connections_do_not_keep_a_server_from_ending(tmp_path: Path) -> None:
    with Server(tmp_path / "data", workers=2) as server, Client(server.port) as client:
        client("ListTables")
        with socket.create_connection(("127.0.0.1", server.port)):
            asked_at = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - asked_at < 3


def test_json_logs_parse_and_carry_the_request_id(tmp_path: Path) -> None:
    options = ("--log-format", "json", "--log-level", "debug")
    with Server(tmp_path / "data", *options, workers=2) as server:
        client = Client(server.port)
        client("ListTables")
        with pytest.raises(Refused):
            client("GetItem", TableName="missing", Key={"pk": {"S": "a\nb"}})
        client.close()
        server.hears(lambda line: "GetItem" in line)  # logged after the answer was sent
        os.kill(server.worker_pids()[0], signal.SIGKILL)
        server.hears(lambda line: "was killed by SIGKILL" in line)
        assert server.stop() == 0
    logged = [json.loads(line) for line in server.lines if line.startswith("{")]
    calls = {line["message"]: line for line in logged if line["logger"] == "hashrange.api"}
    assert set(calls) == {"ListTables ok", "GetItem ResourceNotFoundException"}
    for line in calls.values():
        assert re.fullmatch(r"[0-9A-Z]{52}", line["request_id"])
        assert line["peer"] == "127.0.0.1"
        assert line["ms"] > 0
    for line in logged:
        assert {"time", "level", "logger", "message"} <= set(line)
    assert [line for line in server.lines if not line.startswith("{")][4:] == []  # four lines of welcome


def test_an_unexpected_end_of_one_client_is_no_error_of_the_server(tmp_path: Path) -> None:
    with Server(tmp_path / "data") as server:
        with socket.create_connection(("127.0.0.1", server.port)) as sock:
            sock.sendall(put_request("half")[:-20])
        with Client(server.port) as client:
            assert client("ListTables") == {"TableNames": []}
        assert server.stop() == 0
        assert not [line for line in server.lines if "error" in line or "Traceback" in line]


def test_a_file_that_holds_no_certificate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cert.pem").write_text("no certificate")
    (tmp_path / "key.pem").write_text("no key")
    code, _, errors = hashrange("serve", "--tls-cert", "cert.pem", "--tls-key", "key.pem", cwd=tmp_path)
    assert (code, errors) == (2, "hashrange: cert.pem does not hold a certificate in PEM form.\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cert.pem", "key.pem"]
