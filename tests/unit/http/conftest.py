"""A toy API behind the real door, and a client that speaks in raw bytes."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hashrange.http.door import Settings
from hashrange.http.exchange import Exchange
from hashrange.http.listen import bind
from hashrange.http.server import new_event_loop, serve


class Client:
    """One connection."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        sock.settimeout(5)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = sock.makefile("rb")

    def send(self, *parts: bytes) -> None:
        self.sock.sendall(b"".join(parts))

    def answer(self, *, body: bool = True) -> tuple[int, dict[str, str], bytes]:
        """The next answer: status, headers with lower-cased names, body."""
        status_line = self.received.readline()
        assert status_line.startswith(b"HTTP/1.1 "), status_line
        headers = {}
        while (line := self.received.readline()) != b"\r\n":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        length = int(headers.get("content-length", 0)) if body else 0
        return int(status_line.split()[1]), headers, self.received.read(length)

    def is_closed(self) -> bool:
        """Whether the server has ended the connection, with nothing left unread."""
        try:
            return self.received.read(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self.received.close()
        self.sock.close()


class Toy:
    """A server in a thread of its own whose handler does what the URL says.

    `/echo` answers with the body, `/later` waits until `release` is called, `/fail` raises, `/big` answers with
    as many bytes as the query says, anything else is answered with its URL.
    """

    def __init__(self, settings: Settings, ssl_context: ssl.SSLContext | None) -> None:
        self.seen: list[Exchange] = []
        self.held: dict[bytes, Exchange] = {}
        self.loop = new_event_loop()
        self.clients: list[Client] = []
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        [self._socket] = bind("127.0.0.1", 0)
        self.port = self._socket.getsockname()[1]
        self.server = self.wait(serve(self.handle, [self._socket], settings=settings, ssl_context=ssl_context))

    def handle(self, exchange: Exchange) -> None:
        self.seen.append(exchange)
        path, _, query = exchange.url.partition(b"?")
        if path.startswith(b"/later"):
            self.held[path] = exchange
        elif path == b"/fail":
            raise RuntimeError("the toy was told to fail")
        elif path == b"/big":
            exchange.respond(200, b"", b"x" * int(query))
        else:
            exchange.respond(200, b"Toy: yes\r\n", exchange.body if path == b"/echo" else path)

    def release(self, path: bytes, body: bytes = b"") -> None:
        exchange = self.held.pop(path)
        self.call(lambda: exchange.respond(200, b"", body or path))

    def call(self, function: Callable[[], Any]) -> Any:
        async def inside() -> Any:
            return function()

        return self.wait(inside())

    def wait(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(5)

    def start(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def connect(self) -> Client:
        client = Client(socket.create_connection(("127.0.0.1", self.port)))
        self.clients.append(client)
        return client

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self.wait(self.server.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@contextmanager
def toy_server(ssl_context: ssl.SSLContext | None = None, **settings: Any) -> Iterator[Toy]:
    toy = Toy(Settings(**{"grace_seconds": 1.0, **settings}), ssl_context)
    try:
        yield toy
    finally:
        toy.close()


@pytest.fixture(scope="session")
def toys() -> Callable[..., Any]:
    """Starts a server with settings of one's own: `with toys(idle_seconds=0.1) as toy`."""
    return toy_server


@pytest.fixture
def toy() -> Iterator[Toy]:
    with toy_server() as toy:
        yield toy


@pytest.fixture
def client(toy: Toy) -> Client:
    return toy.connect()
