"""Connections that go from one process of a server to another.

Two processes share a pair of sockets and send each other notes of one size. A note that brings a connection has its
file descriptor with it. The others tell how much the sender has to do, or ask the receiver to give connections away.

A connection may leave when it is quiet (see `Connection.is_quiet`). Bytes that its client sends meanwhile wait in the
kernel, so neither the client nor a request notices.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashrange.http.connection import Connection

log = logging.getLogger("hashrange.server")

NOTE = struct.Struct("!cIf")
CONNECTION, LOAD, SHARE, RETIRE = b"C", b"L", b"S", b"R"
DESCRIPTORS_MAX = 64  # taken in at once
READ_BYTES = 4096
QUIET_SECONDS = 0.002  # how soon a connection that was not quiet may be
TRIES = 100


@dataclass(frozen=True, slots=True)
class Load:
    """How much a process has to do."""

    connections: int = 0
    busy: float = 0.0  # the part of a CPU that it uses


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Hears:
    """What a process does about what another sends it."""

    connection: Callable[[socket.socket], object]
    end: Callable[[], None]  # the other has closed its end, or is gone
    load: Callable[[Load], None] = lambda load: None
    share: Callable[[int], None] = lambda count: None
    retire: Callable[[], None] = _nothing


class Channel:
    """One process's end of the pair."""

    def __init__(self, end: socket.socket, hears: Hears) -> None:
        end.setblocking(False)
        self._socket = end
        self._hears = hears
        self._unread = b""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(end.fileno(), self._read)

    # Connections

    def give(self, connection: Connection) -> bool:
        """Hand a connection over, if it is quiet and the other process can take it now."""
        connection.door.outbox.send()
        if not connection.is_quiet():
            return False
        descriptor = connection.transport.get_extra_info("socket").fileno()
        try:
            socket.send_fds(self._socket, [NOTE.pack(CONNECTION, 0, 0.0)], [descriptor])
        except OSError:
            return False
        connection.leave()
        return True

    def give_some(self, connections: Callable[[], Iterable[Connection]], count: int, tries: int = TRIES) -> None:
        """Hand over so many of these connections, each as soon as it is quiet."""
        for connection in connections():
            if not count:
                return
            count -= self.give(connection)
        if count and tries and self._socket.fileno() >= 0:
            self._loop.call_later(QUIET_SECONDS, self.give_some, connections, count, tries - 1)

    # Notes

    def tell(self, load: Load) -> None:
        self._send(LOAD, load.connections, load.busy)

    def ask_to_share(self, count: int) -> None:
        """Have the other process give us so many of its connections."""
        self._send(SHARE, count)

    def ask_to_retire(self) -> None:
        """Have the other process give us all of its connections, and end."""
        self._send(RETIRE)

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket.fileno())
            self._socket.close()

    def _send(self, kind: bytes, number: int = 0, part: float = 0.0) -> None:
        with contextlib.suppress(OSError):  # who does not read now will hear the next one, or is gone
            self._socket.send(NOTE.pack(kind, number, part))

    def _read(self) -> None:
        try:
            data, descriptors, flags, _ = socket.recv_fds(self._socket, READ_BYTES, DESCRIPTORS_MAX)
        except BlockingIOError:
            return
        except OSError:
            data, descriptors, flags = b"", [], 0
        if flags & socket.MSG_CTRUNC:
            log.warning("a connection is lost that was moved here: there are too many open files")
        for descriptor in descriptors:
            self._hears.connection(socket.socket(fileno=descriptor))
        if not data:
            self.close()
            self._hears.end()
            return
        data = self._unread + data
        whole = len(data) - len(data) % NOTE.size
        self._unread = data[whole:]
        for kind, number, part in NOTE.iter_unpack(data[:whole]):
            self._hear(kind, number, part)

    def _hear(self, kind: bytes, number: int, part: float) -> None:
        if kind == LOAD:
            self._hears.load(Load(number, part))
        elif kind == SHARE:
            self._hears.share(number)
        elif kind == RETIRE:
            self._hears.retire()
