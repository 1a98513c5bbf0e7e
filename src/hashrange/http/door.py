"""What all connections of one server share: the handler, the limits, the time and the list of connections."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from email.utils import formatdate
from typing import TYPE_CHECKING

from hashrange import limits
from hashrange.clock import Clock
from hashrange.http.exchange import Handler

if TYPE_CHECKING:
    from hashrange.http.connection import Connection


@dataclass(frozen=True, slots=True)
class Settings:
    """How much a client may send, and how long it may take."""

    body_bytes_max: int = limits.REQUEST_BODY_BYTES_MAX
    url_bytes_max: int = limits.REQUEST_HEADER_BYTES_MAX
    header_bytes_max: int = limits.REQUEST_HEADER_BYTES_MAX  # all names and values of one request together
    connections_max: int = 10_000
    in_flight_max: int = 64  # requests of one connection that may wait for their answers
    idle_seconds: float = 120.0  # between two requests
    request_seconds: float = 30.0  # from a request's first byte to its last
    drain_seconds: float = 60.0  # for a client to read what was written to it
    linger_seconds: float = 2.0  # for a refused client to notice, before its connection is cut
    grace_seconds: float = 30.0  # for requests under way when the server stops
    sweep_seconds: float = 1.0  # how often the limits above are looked at
    write_buffer_bytes: int = 256 * 1024  # above this, a client that does not read is not read from
    backlog: int = 4096


class Door:
    """Connections enter and leave here; once per sweep each is looked after.

    `now` is the loop's time of the last sweep. It is precise enough for timeouts and costs a request nothing.
    """

    def __init__(self, handler: Handler, settings: Settings, clock: Clock) -> None:
        self.handler = handler
        self.settings = settings
        self.connections: set[Connection] = set()
        self.stopping = False
        self.emptied = asyncio.Event()
        self._clock = clock
        self.sweep(asyncio.get_running_loop().time())

    def sweep(self, now: float) -> None:
        """Take note of the time, and let every connection compare itself with the limits."""
        self.now = now
        date = formatdate(self._clock.seconds(), usegmt=True).encode()
        self.standing_lines = b"Server: Server\r\nDate: %b\r\nConnection: keep-alive\r\n" % date
        self.closing_lines = b"Server: Server\r\nDate: %b\r\nConnection: close\r\n" % date
        for connection in tuple(self.connections):
            connection.look_after()

    def is_full(self) -> bool:
        return len(self.connections) >= self.settings.connections_max

    def enter(self, connection: Connection) -> None:
        self.connections.add(connection)
        self.emptied.clear()

    def leave(self, connection: Connection) -> None:
        self.connections.discard(connection)
        if not self.connections:
            self.emptied.set()

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
