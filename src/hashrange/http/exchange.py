"""One request and its answer: what the wire hands to the API, and what it takes back.

The API fills in nothing but a status, its own headers and a body. What every answer carries (date, length,
checksum, whether the connection stays open, compression) is added here, so that it is the same everywhere.
"""

from __future__ import annotations

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
        if len(body) > COMPRESSED_FROM_BYTES and accepts_gzip(self.headers.get(b"accept-encoding", b"")):
            headers += b"Content-Encoding: gzip\r\n"
            if len(body) > COMPRESSED_ASIDE_FROM_BYTES:
                compressing = compress_aside(body)
                compressing.add_done_callback(lambda compressed: self._send(status, headers, compressed.result()))
                return
            body = compress(body)
        self._send(status, headers, body)

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
