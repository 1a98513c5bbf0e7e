"""Bytes to requests: what one connection's parser calls back into.

The parser calls `on_message_begin`, `on_url`, `on_header`..., `on_headers_complete`, `on_body`... and
`on_message_complete`. The few lines that every request runs are in those methods; what only an unusual request needs is
set apart below them.

The parser itself is strict: it refuses bare line feeds, folded headers, repeated or doubtful lengths, and a
length next to a transfer encoding, which are the ways to make two servers disagree about where a request ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from hashrange.http.door import Door
from hashrange.http.encoding import BodyRefused, decode
from hashrange.http.exchange import Exchange, Handler, plain_answer
from hashrange.http.overload import LARGE_BODY_BYTES, busy_answer, undisturbed

if TYPE_CHECKING:
    from hashrange.http.connection import Connection

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class EndOfInput(Exception):
    """Stops the parser: whatever follows on this connection is not read."""


class Reader:
    """Reads the requests of one connection, and hands each to it as an `Exchange`.

    A request is being read while it has `begun`, which was at `since`; before that, the last one was.
    """

    __slots__ = (
        "begun",
        "body",
        "connection",
        "door",
        "headers",
        "held_bytes",
        "idle_bytes",
        "long_input",
        "parser",
        "progressed",
        "request_headers",
        "settings",
        "since",
        "url",
    )

    def __init__(self, connection: Connection, door: Door) -> None:
        self.connection = connection
        self.door = door
        self.settings = door.settings
        self.parser = HttpRequestParser(self)
        self.begun = False
        self.since = door.now
        self.url = b""
        self.headers: dict[bytes, bytes] = {}
        self.request_headers: dict[bytes, bytes] = {}
        self.body: bytes | bytearray = b""
        self.long_input = False  # whether the head in these bytes may be longer than allowed
        self.progressed = False  # whether the last bytes began a request or added to its body
        self.idle_bytes = 0  # received since the last progress
        self.held_bytes = 0  # of requests unfinished or waiting, as far as they are counted in the door's memory

    def feed(self, data: bytes) -> None:
        self.long_input = len(data) > self.settings.header_bytes_max or self.begun
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            self._decline_upgrades(data, upgrade.args[0])
        except HttpParserError as error:
            self._not_http(error)
        if self.begun:
            self._count_unfinished(len(data))
        if self.begun or self.held_bytes or self.connection.waiting:
            self._hold(len(data))

    def close(self) -> None:
        """Let go of the parser: it holds our methods, and the pair would wait for the garbage collector."""
        self._give_back()
        del self.parser

    def abandon(self) -> None:
        """Forget a request that is half read."""
        self.begun = False
        self.url = self.body = b""
        self._give_back()

    def release_waiting(self) -> None:
        """Requests that had to wait are on their way."""
        if self.held_bytes:
            self._give_back()

    # What every request runs

    def on_message_begin(self) -> None:
        self.begun = True
        self.since = self.door.now

    def on_url(self, url: bytes) -> None:
        self.url += url  # which may come in pieces
        self.progressed = True
        if len(self.url) > self.settings.url_bytes_max:
            self._reject(400, f"The request line is longer than {self.settings.url_bytes_max} bytes.")

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        headers = self.headers
        if name in headers:
            value = self._joined(name, headers[name], value)
        headers[name] = value.rstrip()

    def on_headers_complete(self) -> None:
        headers = self.request_headers = self.headers
        self.headers = {}  # what a chunked body's trailer adds is read and forgotten
        length = headers.get(b"content-length")
        if length is None:
            self._check_transfer_encoding(headers)
        elif int(length) > self.settings.body_bytes_max:
            self._reject(413, f"The body is larger than {self.settings.body_bytes_max} bytes.")
        if self.long_input:
            self._check_header_size(headers)
        if b"expect" in headers:
            self._continue(headers)

    def on_body(self, piece: bytes) -> None:
        self.progressed = True
        if not self.body:
            self.body = piece
        else:
            self._append(piece)
        if len(self.body) > self.settings.body_bytes_max:
            self._reject(413, f"The body is larger than {self.settings.body_bytes_max} bytes.")

    def on_message_complete(self) -> None:
        headers = self.request_headers
        parser = self.parser
        if b"upgrade" in headers and parser.should_upgrade():
            return  # the parser left the body unread; see _decline_upgrades
        exchange = Exchange(self.connection, parser.get_method(), self.url, headers, bytes(self.body))
        handler = self.door.handler
        if b"content-encoding" in headers:
            handler = self._decoding(handler)
        elif len(exchange.body) > LARGE_BODY_BYTES:
            handler = undisturbed(handler)
        self.begun = False
        self.url = self.body = b""
        if self.headers:
            self.headers = {}
        if parser.should_keep_alive() and not self.door.stopping:
            self.connection.take(exchange, handler)
        else:
            self._hand_over_last(exchange, handler)

    # What an unusual request needs

    def _joined(self, name: bytes, first: bytes, second: bytes) -> bytes:
        if name == b"host" or len(first) > self.settings.header_bytes_max:
            self._reject(400, "A header is repeated that may not be.")
        return first + b"," + second

    def _check_transfer_encoding(self, headers: dict[bytes, bytes]) -> None:
        coding = headers.get(b"transfer-encoding")
        if coding is None:
            return
        if self.parser.get_http_version() != "1.1":
            self._reject(400, "Transfer-Encoding needs HTTP/1.1.")
        if coding.lower() != b"chunked":
            self._reject(501, "The only Transfer-Encoding understood here is chunked.")

    def _check_header_size(self, headers: dict[bytes, bytes]) -> None:
        size_bytes = sum(map(len, headers)) + sum(map(len, headers.values()))
        if size_bytes > self.settings.header_bytes_max:
            self._reject(400, f"The headers are larger than {self.settings.header_bytes_max} bytes.")

    def _continue(self, headers: dict[bytes, bytes]) -> None:
        """Tell a client that asked first to go on and send the body."""
        if self.parser.get_http_version() != "1.1" or self.parser.should_upgrade():
            return
        if headers[b"expect"].lower() != b"100-continue":
            self._reject(417, "The only expectation understood here is 100-continue.")
        connection = self.connection
        connection.take(Exchange(connection, b"", b"", {}, b""), lambda interim: connection.send(interim, CONTINUE))

    def _append(self, piece: bytes) -> None:
        if not isinstance(self.body, bytearray):
            self.body = bytearray(self.body)  # grows in place, where bytes would be copied for each piece
        self.body += piece

    def _decoding(self, handler: Handler) -> Handler:
        """The handler for a compressed body. It is inflated when its turn has come; until then it is as small as it
        was sent."""
        bytes_max = self.settings.body_bytes_max

        def handle(exchange: Exchange) -> None:
            coding = exchange.headers[b"content-encoding"]
            try:
                exchange.body = decode(coding, exchange.body_as_sent, bytes_max=bytes_max)
            except BodyRefused as refused:
                plain_answer(refused.status, refused.text)(exchange)
            else:
                (undisturbed(handler) if len(exchange.body) > LARGE_BODY_BYTES else handler)(exchange)

        return handle

    def _hand_over_last(self, exchange: Exchange, handler: Handler) -> NoReturn:
        """Hand over a request after which the connection ends."""
        if self.parser.get_http_version() not in ("1.0", "1.1"):
            handler = plain_answer(505, "The protocol spoken here is HTTP/1.1.")
        self.connection.take_last(exchange, handler)
        raise EndOfInput

    def _decline_upgrades(self, data: bytes, offset: int) -> None:
        """Go on in HTTP/1.1 after a request that proposed another protocol.

        The parser stops after the head of such a request. It is shown the head again without the proposal, and
        then reads the body like any other. A request that the handler already has was a CONNECT: nothing that
        follows it is HTTP.
        """
        rest = memoryview(data)[offset:]
        try:
            while self.begun:
                try:
                    self._reread_without_upgrade()
                    self.parser.feed_data(rest)
                    return
                except HttpParserUpgrade as upgrade:
                    rest = rest[upgrade.args[0] :]
        except HttpParserError as error:
            self._not_http(error)
        else:
            self.connection.end_after_last()

    def _reread_without_upgrade(self) -> None:
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())]
        lines += [b"%b: %b" % header for header in self.request_headers.items() if header[0] != b"upgrade"]
        self.url = b""
        self.headers = {}
        self.parser = HttpRequestParser(self)
        self.parser.feed_data(b"\r\n".join(lines) + b"\r\n\r\n")

    def _count_unfinished(self, size_bytes: int) -> None:
        """Bound what a client may send without getting anywhere: an endless header, an endless trailer."""
        if self.progressed:
            self.progressed = False
            self.idle_bytes = 0
            return
        self.idle_bytes += size_bytes
        if self.idle_bytes > 2 * self.settings.header_bytes_max:  # a head of short headers is half punctuation
            text = f"The headers are larger than {self.settings.header_bytes_max} bytes."
            self.connection.refuse(plain_answer(400, text))

    def _hold(self, size_bytes: int) -> None:
        """Count what was received and is not on its way yet; refuse the request if there is no room for it."""
        if self.connection.deaf or not (self.begun or self.connection.waiting):
            self._give_back()
        elif self.door.memory.bodies.take(size_bytes, own_bytes=self.held_bytes):
            self.held_bytes += size_bytes
        else:
            self.connection.refuse(busy_answer)

    def _give_back(self) -> None:
        self.door.memory.bodies.give_back(self.held_bytes)
        self.held_bytes = 0

    # Refusals

    def _reject(self, status: int, text: str) -> NoReturn:
        """Refuse from within the parser, and stop it."""
        self.connection.refuse(plain_answer(status, text))
        raise EndOfInput

    def _not_http(self, error: HttpParserError) -> None:
        if not self.connection.deaf:  # otherwise it was our own EndOfInput that stopped the parser
            self.connection.refuse(plain_answer(400, f"Bad request: {error}."))
