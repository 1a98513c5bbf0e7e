"""One request and its answer: what the wire hands to the API, and what it takes back.

The API fills in nothing but a status, its own headers and a body. What every answer carries (date, length,
checksum, whether the connection stays open, compression) is added here, so that it is the same everywhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING
from zlib import crc32

from hashrange.http.encoding import (
    COMPRESSED_ASIDE_FROM_BYTES,
    COMPRESSED_FROM_BYTES,
    accepts_gzip,
    compress,
    compress_aside,
)

if TYPE_CHECKING:
    from hashrange.http.connection import Connection

STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus if status >= 200
}


GZIP = b"Content-Encoding: gzip\r\n"


class Exchange:
    """A complete request, waiting for its one answer.

    `headers` has lower-cased names; a repeated header keeps its values joined by a comma. `body` is ready to be
    read (chunks joined, gzip inflated); `body_as_sent` is what a signature covers, before inflating.
    """

    __slots__ = (
        "answered",
        "body",
        "body_as_sent",
        "closes",
        "connection",
        "headers",
        "message",
        "method",
        "uncompressed",
        "url",
    )

    def __init__(
        self, connection: Connection, method: bytes, url: bytes, headers: dict[bytes, bytes], body: bytes
    ) -> None:
        self.connection = connection
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.body_as_sent = body
        self.answered = False
        self.closes = False  # whether the connection ends with this answer
        self.message: bytes | None = None  # the answer's bytes, while earlier requests are still unanswered
        self.uncompressed = b""  # the answer's body, while it waits to be compressed

    @property
    def peer(self) -> str:
        """The client's address, without its port."""
        return self.connection.peer

    @property
    def secure(self) -> bool:
        """Whether the client came over TLS."""
        return self.connection.transport.get_extra_info("sslcontext") is not None

    def respond(self, status: int, headers: bytes, body: bytes) -> None:
        """Answer, once, in the loop's thread. `headers` is lines of `Name: value\\r\\n`."""
        assert not self.answered
        self.answered = True
        if len(body) <= COMPRESSED_FROM_BYTES or not accepts_gzip(self.headers.get(b"accept-encoding", b"")):
            self._send(status, headers, body)
        elif len(body) <= COMPRESSED_ASIDE_FROM_BYTES:
            self._send(status, headers + GZIP, compress(body))
        elif self.connection.may_keep(len(body)):
            self._compress_aside(status, headers + GZIP, body)
        else:
            self._send(status, headers, body)

    def kept_bytes(self) -> int:
        """How much of the answer waits to be sent."""
        return len(self.uncompressed) + (0 if self.message is None else len(self.message))

    def forget(self) -> None:
        """Nobody will read the answer."""
        self.message = None
        self.uncompressed = b""

    def _compress_aside(self, status: int, headers: bytes, body: bytes) -> None:
        self.uncompressed = body
        self.connection.count_kept()

        def send(compressed: asyncio.Future[bytes]) -> None:
            if self.uncompressed:  # otherwise it was forgotten meanwhile
                self.uncompressed = b""
                self._send(status, headers, compressed.result())
                self.connection.count_kept()

        compress_aside(lambda: self.uncompressed).add_done_callback(send)

    def _send(self, status: int, headers: bytes, body: bytes) -> None:
        connection = self.connection
        door = connection.door
        message = b"%b%b%bContent-Length: %d\r\nx-amz-crc32: %d\r\n\r\n%b" % (
            STATUS_LINES[status],
            door.closing_lines if self.closes else door.standing_lines,
            headers,
            len(body),
            crc32(body),
            b"" if self.method == b"HEAD" else body,
        )
        connection.send(self, message)


Handler = Callable[[Exchange], None]


def plain_answer(status: int, text: str) -> Handler:
    """A handler that answers with a line of text; for requests that never reach the API."""

    def answer(exchange: Exchange) -> None:
        exchange.respond(status, b"Content-Type: text/plain\r\n", text.encode() + b"\n")

    return answer
