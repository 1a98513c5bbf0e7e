"""Bytes for the HTTP reader, without sockets: thousands in a second.

Three things must hold beside those of every input. However the bytes are cut into pieces, the same requests come out.
Whatever came before, the connection answers the next request, or closes, or is still waiting for the rest of one, and
then it does not wait for ever. And what goes out is a sequence of whole answers.
"""

from __future__ import annotations

import asyncio
import gzip
import re
from random import Random
from typing import Any

from fuzz.mutate import damaged
from fuzz.watch import Broken, Watch
from hashrange.clock import ManualClock
from hashrange.http.connection import Connection
from hashrange.http.door import Door, Settings
from hashrange.http.exchange import Exchange

PROBE = b"GET /probe HTTP/1.1\r\nHost: h\r\n\r\n"
SETTINGS = Settings(body_bytes_max=2000, url_bytes_max=300, header_bytes_max=600, in_flight_max=3)
LIMITS = (b"are larger than", b"is larger than", b"is longer than", b"is repeated")
HEAD = b"POST / HTTP/1.1\r\nHost: h\r\n"
JSON = b"Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n"
ZIPPED = gzip.compress(b'{"TableName": "table"}', mtime=0)
CORPUS = [
    PROBE,
    PROBE * 5,
    HEAD + b"Content-Length: 2\r\n\r\n{}",
    HEAD + JSON + b"Content-Length: 2\r\n\r\n{}" + PROBE,
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + PROBE,
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;a=b\r\n{\r\n1\r\n}\r\n0\r\nTrailer: t\r\n\r\n" + PROBE,
    HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b" % (len(ZIPPED), ZIPPED) + PROBE,
    HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + PROBE,
    HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" + PROBE,
    HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + PROBE,
    HEAD + b"X-Folded: a\r\n b\r\nContent-Length: 0\r\n\r\n" + PROBE,
    HEAD + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}" + PROBE,
    HEAD + b"Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\n{}" + PROBE,
    HEAD
    + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    + PROBE,
    b"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n" + PROBE,
    b"CONNECT a:1 HTTP/1.1\r\nHost: h\r\n\r\n" + PROBE,
    b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n" + PROBE,
    b"OPTIONS * HTTP/1.1\r\nHost: h\r\nOrigin: http://o\r\nAccess-Control-Request-Headers: x-amz-date\r\n\r\n" + PROBE,
    b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + PROBE,
    b"GET http://h/path?query#part HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" + PROBE,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /_hashrange/clock HTTP/1.1\r\nHost: h\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
]
STATUS_LINE = re.compile(rb"HTTP/1\.1 (\d{3}) [^\r\n]+\r\n")


class Transport(asyncio.Transport):
    """Keeps what is written, and closes like a socket."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.written = bytearray()
        self.closed = False
        self.ended = False
        self.reading = True

    def write(self, data: Any) -> None:
        if not self.closed:
            self.written += data

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = True

    def close(self) -> None:
        self.closed = True

    abort = close

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


class Wire:
    """One connection, fed by hand. Its handler keeps what it is asked, and answers some of it later."""

    def __init__(self, *, held: bool) -> None:
        self.seen: list[tuple[bytes, bytes, tuple[tuple[bytes, bytes], ...], bytes]] = []
        self.held: list[Exchange] = []
        self._holds = held
        self.door = Door(self._handle, SETTINGS, ManualClock())
        self.connection = Connection(self.door)
        self.transport = Transport()
        self.connection.connection_made(self.transport)

    def _handle(self, exchange: Exchange) -> None:
        self.seen.append((exchange.method, exchange.url, tuple(sorted(exchange.headers.items())), exchange.body))
        if self._holds:
            self.held.append(exchange)
        else:
            exchange.respond(200, b"Content-Type: text/plain\r\n", exchange.url)

    async def feed(self, pieces: list[bytes]) -> None:
        """Pieces as they arrive: not while the connection does not read, and none once it is closed."""
        for piece in pieces:
            await self.settle()
            if self.over:
                return
            self.connection.data_received(piece)
        await self.settle()

    async def settle(self) -> None:
        """Answer what is held, the last first, until the connection reads on."""
        for _ in range(1000):
            if self.held:
                self.held.pop().respond(200, b"", b"late")
            elif self.transport.reading or self.over:
                return
            else:
                await asyncio.sleep(0)
        raise Broken("the connection does not read on")

    @property
    def over(self) -> bool:
        return self.transport.closed or self.transport.ended

    async def must_end(self) -> None:
        """A connection that says nothing more is closed in time."""
        now = self.door.now
        for _ in range(5):
            now += 1000.0
            self.door.sweep(now)
            await self.settle()
            if self.transport.closed:
                return
        raise Broken("the connection is never closed")


def whole_answers(written: bytes, heads: bool) -> list[int]:
    """The statuses of a sequence of answers; `Broken` if it is anything else. Answers to HEAD have no body."""
    statuses, position = [], 0
    while position < len(written):
        match = STATUS_LINE.match(written, position)
        end = written.find(b"\r\n\r\n", position)
        if match is None or end < 0:
            raise Broken(f"not an answer: {bytes(written[position : position + 40])!r}")
        statuses.append(int(match[1]))
        length = re.search(rb"\r\nContent-Length: (\d+)\r\n", written[position : end + 2])
        position = end + 4
        if length is not None and not (heads and STATUS_LINE.match(written, position)):
            position += int(length[1])
        elif length is None and statuses[-1] != 100:
            raise Broken("an answer without a length")
    return statuses


def cut(chance: Random, data: bytes) -> list[bytes]:
    if chance.random() < 0.2:
        return [data[place : place + 1] for place in range(len(data))]
    places = sorted(chance.randrange(len(data) + 1) for _ in range(chance.choice((1, 2, 5))))
    pieces = [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]
    return [piece for piece in pieces if piece]


async def one_input(data: bytes, pieces: list[bytes], *, held: bool) -> str:
    whole, parted = Wire(held=False), Wire(held=held)
    await whole.feed([data])
    await parted.feed(pieces)
    limited = any(limit in wire.transport.written for wire in (whole, parted) for limit in LIMITS)
    if whole.seen != parted.seen and not limited:
        raise Broken(f"cut into pieces, {len(whole.seen)} requests become {len(parted.seen)}")
    heads = b"HEAD" in data  # not all of them come to the handler
    for wire in (whole, parted):
        before = len(wire.seen)
        is_between = not wire.connection.reader.url and not wire.over
        await wire.feed([PROBE])
        statuses = whole_answers(bytes(wire.transport.written), heads)
        if any(status == 500 for status in statuses):
            raise Broken("status 500")
        if is_between and len(wire.seen) == before and not wire.over and not is_waiting(data):
            raise Broken("the next request is not answered, and the connection stays open")
        await wire.must_end()
        wire.connection.connection_lost(None)
    return str(statuses[-1]) if statuses else "no answer"


def is_waiting(data: bytes) -> bool:
    """Whether the bytes may end inside a request line, which the parser keeps to itself, so that what follows is a part
    of it."""
    return not data.endswith(b"\n")


def round_of_wire(chance: Random, watch: Watch, inputs: int) -> None:
    with asyncio.Runner() as runner:
        for _ in range(inputs):
            data = b"".join(chance.choice(CORPUS) for _ in range(chance.choice((1, 1, 1, 2, 3))))
            if chance.random() < 0.85:
                data = damaged(chance, data, CORPUS)[:20_000]
            run = one_input(data, cut(chance, data), held=chance.random() < 0.3)
            watch.each(data, lambda: runner.run(run))  # noqa: B023
