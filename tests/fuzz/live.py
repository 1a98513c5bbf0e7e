"""Bytes for a real server over sockets: damaged HTTP from the corpus of `wire`, damaged bodies in sound HTTP.

After every input the server must still answer somebody else, and must have closed the connection, or answer on it, or
be waiting for the rest of a request. Its memory may not grow without bound.
"""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from types import TracebackType

from conftest import ENVIRONMENT, endpoint_of
from fuzz.grammar import EXPRESSIONS, drawn
from fuzz.mutate import altered, damaged, written
from fuzz.values import item_of
from fuzz.watch import Broken, Watch
from fuzz.wire import CORPUS, PROBE, cut, whole_answers
from fuzz.world import TABLES, code_of
from harness import AUTHORIZATION, target_of

WAIT_SECONDS = 10.0
RESIDENT_MB_MAX = 400
BODY_BYTES_MAX = 4_000_000  # larger ones than the server takes end the connection, which is kept for many inputs
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n")


class LiveServer:
    """A server process on a port and a directory of its own."""

    def __enter__(self) -> LiveServer:
        self._directory = tempfile.TemporaryDirectory(prefix="hashrange-fuzz-")
        self._log = Path(self._directory.name, "log")
        data = Path(self._directory.name, "data")
        command = (
            sys.executable,
            "-m",
            "hashrange",
            "serve",
            "--port",
            "0",
            "--data",
            str(data),
            "--durability",
            "none",
        )
        with self._log.open("wb") as stream:
            self._process = subprocess.Popen(command, env=ENVIRONMENT, stderr=stream)
        self.address = ("127.0.0.1", int(endpoint_of(self._process, self._log).rpartition(":")[2]))
        self._create_table()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(timeout=30)
        self._directory.cleanup()

    def _create_table(self) -> None:
        keys = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
        types = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]
        members = {
            "TableName": "table",
            "KeySchema": keys,
            "AttributeDefinitions": types,
            "BillingMode": "PAY_PER_REQUEST",
        }
        with self._connected() as client:
            client.sendall(api_request("CreateTable", json.dumps(members).encode()))
            assert read_answer(client)[0] == 200

    def _connected(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=WAIT_SECONDS)

    def round(self, chance: Random, watch: Watch, inputs: int) -> None:
        """Damaged requests on connections of their own, and damaged bodies on one that is kept."""
        with self._connected() as kept:
            for _ in range(inputs):
                if chance.random() < 0.5:
                    data = damaged(chance, chance.choice(CORPUS), CORPUS)[:20_000]
                    pieces = cut(chance, data) if chance.random() < 0.2 else [data]
                    watch.each(data, lambda: self._one_connection(pieces[:20]))  # noqa: B023
                else:
                    operation, body = api_body(chance)
                    data = api_request(operation, body)
                    watch.each(data, lambda: answered(kept, data))  # noqa: B023
        watch.each(b"the end of the round", self._look)

    def _one_connection(self, pieces: list[bytes]) -> str:
        """Everything that a connection answers until it is closed: by the server, or after our end."""
        with self._connected() as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            received = b""
            try:
                for piece in pieces:
                    client.sendall(piece)
                client.sendall(PROBE)
                client.shutdown(socket.SHUT_WR)
                while data := client.recv(65536):
                    received += data
            except TimeoutError:
                raise Broken("the connection is neither answered nor closed") from None
            except OSError:  # the server has closed already, which is one of the ends that are right
                return "reset"
        statuses = whole_answers(received, heads=True)
        if any(status >= 500 and status not in (501, 505) for status in statuses):
            raise Broken(f"status {statuses[-1]}")
        return str(statuses[-1]) if statuses else "closed"

    def _look(self) -> str:
        """The server is there, has logged no error, and has not grown."""
        if self._process.poll() is not None:
            raise Broken(f"the server ended with {self._process.returncode}")
        log = self._log.read_text(errors="replace")
        if "Traceback" in log or " error " in log:
            raise Broken(f"the log has an error: {log[-2000:]}")
        status = Path(f"/proc/{self._process.pid}/status")
        if status.exists():
            resident = re.search(r"VmRSS:\s+(\d+) kB", status.read_text())
            if resident is not None and int(resident[1]) > RESIDENT_MB_MAX * 1024:
                raise Broken(f"the server holds {int(resident[1]) // 1024} MB")
        return "sound"


def api_body(chance: Random) -> tuple[str, bytes]:
    tree = {"TableName": "table", "Item": item_of(chance, TABLES["table"])}
    operation = chance.choice(("PutItem", "GetItem", "Scan", "Query", "UpdateItem"))
    if operation != "PutItem":
        key = {"pk": {"S": "k"}, "sk": {"S": "k"}}
        tree = {"TableName": "table", "Key": key, "FilterExpression": drawn(chance, EXPRESSIONS, "condition")}
    return operation, written(chance, altered(chance, tree))[:BODY_BYTES_MAX]


def api_request(operation: str, body: bytes) -> bytes:
    head = (
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: %b\r\n"
        b"X-Amz-Date: 20260101T000000Z\r\nAuthorization: %b\r\nContent-Length: %d\r\n\r\n"
    )
    return head % (target_of(operation), AUTHORIZATION % (b"AKID", b"us-east-1"), len(body)) + body


def answered(client: socket.socket, data: bytes) -> str:
    client.sendall(data)
    status, head, body = read_answer(client)
    if status >= 500:
        raise Broken(f"status {status}")
    if status == 200:
        return "ok"
    return code_of(head, json.loads(body))


def read_answer(client: socket.socket) -> tuple[int, bytes, bytes]:
    received = b""
    while b"\r\n\r\n" not in received:
        received += received_or_broken(client)
    head, _, body = received.partition(b"\r\n\r\n")
    status, length = STATUS.match(head), LENGTH.search(head + b"\r\n")
    if status is None or length is None:
        raise Broken(f"not an answer: {head[:100]!r}")
    while len(body) < int(length[1]):
        body += received_or_broken(client)
    return int(status[1]), head, body


def received_or_broken(client: socket.socket) -> bytes:
    try:
        data = client.recv(1 << 20)
    except TimeoutError:
        raise Broken("no answer") from None
    if not data:
        raise Broken("the connection was closed on a sound request")
    return data
