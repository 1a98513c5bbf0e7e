"""The listening side: sockets that accept connections, the sweep that looks after them, and the end."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from hashrange.clock import Clock, SystemClock
from hashrange.http.connection import Connection
from hashrange.http.door import Door, Settings
from hashrange.http.exchange import Handler
from hashrange.http.listen import connections_possible
from hashrange.http.overload import Memory
from hashrange.http.tls import LiveContext

__all__ = ["Server", "Settings", "new_event_loop", "run", "serve"]

log = logging.getLogger("hashrange.server")

Result = TypeVar("Result")


def new_event_loop() -> asyncio.AbstractEventLoop:
    """The fastest event loop there is: uvloop, or asyncio's own where uvloop is missing."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end on that loop."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)


class Server:
    """A server that is listening. `close` ends it, after the requests that it has already received."""

    def __init__(
        self, door: Door, listeners: Sequence[asyncio.Server], ssl_context: ssl.SSLContext | None = None
    ) -> None:
        self._door = door
        self._listeners = listeners
        self._ssl_context = ssl_context
        self._adopting: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._schedule_sweep()

    @property
    def door(self) -> Door:
        return self._door

    @property
    def connection_count(self) -> int:
        return len(self._door.connections)

    def adopt(self, accepted: socket.socket) -> None:
        """Go on with a connection that another process has accepted."""
        task = self._loop.create_task(self._adopt(accepted))
        self._adopting.add(task)
        task.add_done_callback(self._adopting.discard)

    async def _adopt(self, accepted: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: Connection(self._door, is_new=False), accepted)
        except OSError:
            accepted.close()  # its client was faster, and is gone

    async def close(self) -> None:
        """Stop accepting, close idle connections, let accepted requests be answered within the grace period."""
        for listener in self._listeners:
            listener.close()
        self._door.stop()
        try:
            await asyncio.wait_for(self._door.emptied.wait(), self._door.settings.grace_seconds)
        except TimeoutError:
            self._door.abort()
            await asyncio.sleep(0)  # one turn of the loop, in which the connections learn that they are lost
        self._sweep_timer.cancel()

    def _schedule_sweep(self) -> None:
        self._sweep_timer = self._loop.call_later(self._door.settings.sweep_seconds, self._sweep)

    def _sweep(self) -> None:
        self._schedule_sweep()
        self._door.sweep(self._loop.time())
        if isinstance(self._ssl_context, LiveContext):
            self._ssl_context.refresh()


async def serve(
    handler: Handler,
    sockets: Sequence[socket.socket],
    *,
    settings: Settings | None = None,
    ssl_context: ssl.SSLContext | None = None,
    clock: Clock | None = None,
    memory: Memory | None = None,
) -> Server:
    """Answer requests on these sockets with `handler`. The clock is for the Date header; the memory is given if the
    handler needs it too."""
    settings = settings or Settings()
    possible = connections_possible(settings.connections_max)
    if possible < settings.connections_max:
        log.warning("the system's limit on open files allows %d connections at once", possible)
        settings = replace(settings, connections_max=possible)
    door = Door(handler, settings, clock or SystemClock(), memory)
    loop = asyncio.get_running_loop()
    listeners = [
        await loop.create_server(
            lambda: Connection(door),
            sock=sock,
            backlog=settings.backlog,
            ssl=ssl_context,
            ssl_handshake_timeout=settings.handshake_seconds if ssl_context else None,
        )
        for sock in sockets
    ]
    return Server(door, listeners, ssl_context)
