"""A whole server, in a process of its own, whose memory is watched while clients do their worst."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory use from /proc")

MB = 1024 * 1024
HEAD = (
    b"POST / HTTP/1.1\r\nHost: here\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20260101T000000Z\r\n"
    b"X-Amz-Target: DynamoDB_20120810.%b\r\n"
    b"Authorization: AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, "
    b"Signature=0\r\nContent-Length: %d\r\n\r\n"
)


class Process:
    """A running server."""

    def __init__(self, *options):
        command = [sys.executable, "-m", "hashrange", "serve", "--memory", "--port", "0", *options]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        first = self.process.stderr.readline()
        self.port = int(re.search(r":(\d+) ", first).group(1))
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def connect(self):
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def call(self, operation, **members):
        body = json.dumps(members).encode()
        with self.connect() as sock:
            sock.sendall(
                HEAD.replace(b"Host: here", b"Host: here\r\nConnection: close") % (operation, len(body)) + body
            )
            answer = sock.makefile("rb").read()
        return int(answer.split()[1])

    def memory_bytes(self, name):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+) kB", status).group(1)) * 1024

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


@pytest.fixture
def server():
    server = Process("--memory-mb", "64")
    server.call(
        b"CreateTable",
        TableName="table",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    yield server
    server.end()


def send_almost_all(server, size_bytes):
    """A client that sends a body but for its last bytes, as far as the server takes it."""
    sock = server.connect()
    with suppress(OSError):  # refused, and cut off
        sock.sendall(HEAD % (b"PutItem", size_bytes) + b" " * (size_bytes - 10))
    return sock


def is_served_soon(server):
    started = time.perf_counter()
    status = server.call(b"GetItem", TableName="table", Key={"pk": {"S": "a"}})
    return status == 200 and time.perf_counter() - started < 5.0


def test_forty_bodies_of_sixteen_megabytes_do_not_take_forty_times_the_memory(server):
    before = server.memory_bytes("VmRSS")
    socks = [send_almost_all(server, 16 * MB) for _ in range(40)]
    assert is_served_soon(server)
    assert server.memory_bytes("VmHWM") - before < 150 * MB
    for sock in socks:
        sock.close()
    assert is_served_soon(server)


def test_clients_that_read_nothing_do_not_fill_the_memory(server):
    for number in range(10):
        server.call(b"PutItem", TableName="table", Item={"pk": {"S": str(number)}, "s": {"S": "x" * 400_000}})
    before = server.memory_bytes("VmRSS")
    keys = [{"pk": {"S": str(number)}} for number in range(10)]
    body = json.dumps({"RequestItems": {"table": {"Keys": keys}}}).encode()
    socks = [server.connect() for _ in range(50)]
    for sock in socks:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with suppress(OSError):
            sock.sendall((HEAD % (b"BatchGetItem", len(body)) + body) * 8)  # 32 MB to be read
    assert is_served_soon(server)
    assert server.memory_bytes("VmHWM") - before < 100 * MB
    for sock in socks:
        sock.close()
    assert is_served_soon(server)


def test_answers_that_wait_to_be_compressed_do_not_fill_the_memory(server):
    for number in range(10):
        text = os.urandom(150_000).hex()  # takes a while to compress
        server.call(b"PutItem", TableName="table", Item={"pk": {"S": str(number)}, "s": {"S": text}})
    before = server.memory_bytes("VmRSS")
    keys = [{"pk": {"S": str(number)}} for number in range(10)]
    body = json.dumps({"RequestItems": {"table": {"Keys": keys}}}).encode()
    head = HEAD.replace(b"Host: here", b"Host: here\r\nAccept-Encoding: gzip") % (b"BatchGetItem", len(body))
    socks = [server.connect() for _ in range(5)]
    for sock in socks:
        sock.sendall((head + body) * 60)  # 180 MB before compression
    time.sleep(1)
    assert is_served_soon(server)
    assert server.memory_bytes("VmHWM") - before < 100 * MB
    for sock in socks:
        sock.close()


def test_pages_that_are_not_finished_do_not_fill_the_memory(server):
    for start in range(0, 3000, 25):
        items = [{"pk": {"S": str(number)}, "s": {"S": "x" * 480}} for number in range(start, start + 25)]
        server.call(b"BatchWriteItem", RequestItems={"table": [{"PutRequest": {"Item": item}} for item in items]})
    before = server.memory_bytes("VmRSS")
    request = HEAD % (b"Scan", 21) + b'{"TableName":"table"}'
    socks = [server.connect() for _ in range(20)]
    for sock in socks:
        sock.sendall(request * 60)  # of each, half a megabyte is read at once
    time.sleep(1)
    assert is_served_soon(server)
    assert server.memory_bytes("VmHWM") - before < 100 * MB
    for sock in socks:
        sock.close()
