"""What all connections of one server share: the handler, the limits, the time and the list of connections."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hashrange import limits
from hashrange.clock import Clock
from hashrange.http.exchange import Exchange, Handler
from hashrange.http.outbox import Outbox
from hashrange.http.overload import MEMORY_BYTES_MAX, Memory

if TYPE_CHECKING:
    from hashrange.http.connection import Connection

DATE_FORMAT = "%a, %d %b %Y %H:%M:%S GMT"  # in English, as long as nobody sets a locale


@dataclass(frozen=True, slots=True)
class Settings:
    """How much a client may send, and how long it may take."""

    body_bytes_max: int = limits.REQUEST_BODY_BYTES_MAX
    url_bytes_max: int = limits.REQUEST_HEADER_BYTES_MAX
    header_bytes_max: int = limits.REQUEST_HEADER_BYTES_MAX  # all names and values of one request together
    connections_max: int = 10_000
    in_flight_max: int = 64  # requests of one connection that may wait for their answers
    idle_seconds: float = 120.0  # between two requests
    handshake_seconds: float = 10.0  # for a client to agree on TLS
    request_seconds: float = 30.0  # from a request's first byte to its last
    drain_seconds: float = 60.0  # for a client to read what was written to it
    linger_seconds: float = 2.0  # for a refused client to notice, before its connection is cut
    grace_seconds: float = 30.0  # for requests under way when the server stops
    sweep_seconds: float = 1.0  # how often the limits above are looked at
    memory_bytes_max: int = MEMORY_BYTES_MAX  # of unfinished requests, waiting writes and unread answers together
    write_buffer_bytes: int = 256 * 1024  # above this, a client that does not read is not read from
    backlog: int = 4096


class Door:
    """Connections enter and leave here; once per sweep each is looked after.

    `now` is the loop's time of the last sweep. It is precise enough for timeouts and costs a request nothing.
    """

    def __init__(self, handler: Handler, settings: Settings, clock: Clock, memory: Memory | None = None) -> None:
        self.handler = handler
        self.settings = settings
        self.memory = memory or Memory.of(settings.memory_bytes_max)
        self.outbox = Outbox()
        self.connections: set[Connection] = set()
        self.congested: dict[Connection, None] = {}  # those whose clients do not read, the longest first
        self._api: Handler | None = None  # the handler that takes over again when we have rested
        self._late: deque[Exchange] = deque()
        self.place: Callable[[Connection], bool] | None = None  # may give a new connection to another process
        self.stopping = False
        self.emptied = asyncio.Event()
        self._clock = clock
        self.sweep(asyncio.get_running_loop().time())

    def sweep(self, now: float) -> None:
        """Take note of the time, and let every connection compare itself with the limits."""
        self.now = now
        date = datetime.fromtimestamp(self._clock.seconds(), UTC).strftime(DATE_FORMAT).encode()
        self.standing_lines = b"Server: Server\r\nDate: %b\r\nConnection: keep-alive\r\n" % date
        self.closing_lines = b"Server: Server\r\nDate: %b\r\nConnection: close\r\n" % date
        for connection in tuple(self.connections):
            connection.look_after()

    def active(self) -> list[Connection]:
        """Connections whose clients have sent something lately."""
        since = self.now - self.settings.sweep_seconds
        return [connection for connection in self.connections if connection.reader.since >= since]

    def is_full(self) -> bool:
        return len(self.connections) >= self.settings.connections_max

    def enter(self, connection: Connection) -> None:
        self.connections.add(connection)
        self.emptied.clear()

    def leave(self, connection: Connection) -> None:
        self.connections.discard(connection)
        self.congested.pop(connection, None)
        if not self.connections:
            self.emptied.set()

    def count_unread(self, connection: Connection, grown_bytes: int) -> None:
        """Take note that a connection has more unread answers, or less. Where there is no room for more, the client
        that has not been reading for the longest is cut off."""
        pool = self.memory.answers
        if grown_bytes < 0:
            pool.give_back(-grown_bytes)
            return
        while not pool.take(grown_bytes, own_bytes=connection.unread_bytes - grown_bytes):
            self._rest()
            idle = next(iter(self.congested), connection)
            if idle is connection:
                connection.unread_bytes -= grown_bytes
                connection.cut()
                return
            idle.cut()

    def _rest(self) -> None:
        """Handle no further request in this turn of the loop: the memory of those who are cut off comes back at its
        end, and not before."""
        if self._api is None:
            self._api, self.handler = self.handler, self._put_off
            asyncio.get_running_loop().call_soon(self._go_on)

    def _put_off(self, exchange: Exchange) -> None:
        """The handler while we rest; whoever had to wait with it for his turn may come when that is over."""
        self._late.append(exchange)
        if self._api is None:
            self._rest()

    def _go_on(self) -> None:
        assert self._api is not None
        self.handler, self._api = self._api, None
        while self._late and self._api is None:
            exchange = self._late.popleft()
            if exchange.connection.pending:  # otherwise its client is gone
                try:
                    self.handler(exchange)
                except Exception:
                    exchange.connection.answer_for(exchange)

    def stop(self) -> None:
        """Every connection ends after the requests it has already sent."""
        self.stopping = True
        if not self.connections:
            self.emptied.set()
        for connection in tuple(self.connections):
            connection.stop()

    def abort(self) -> None:
        for connection in tuple(self.connections):
            connection.abort()
