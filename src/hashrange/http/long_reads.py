"""Reads that take longer than their turn: they go on a slice at a time, between the requests of others.

Only one of them is under way at a time, so that however many there are, a short request waits for one slice. They take
turns by connection: who asks for many pages at once waits for his own, not the others for him.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any

from hashrange.errors import ServiceUnavailable
from hashrange.http.exchange import Exchange
from hashrange.http.overload import BUSY
from hashrange.operations.operation import LongRead
from hashrange.storage.interface import Done, Result

SLICE_SECONDS = 0.002
WAITING_MAX = 1000

CallSoon = Callable[[Callable[[], None]], Any]
"""Has something done after whatever else there is to do; an event loop's `call_soon`."""


class LongReads:
    """The reads that are not finished. Without a loop to return to, each is read to its end."""

    def __init__(self, call_soon: CallSoon | None = None) -> None:
        self._call_soon = call_soon
        self._queues: dict[Hashable, deque[tuple[LongRead, Done]]] = {}  # by connection, whose turn it is first
        self._count = 0

    def start(self, read: LongRead, done: Done, exchange: Exchange) -> None:
        """Have a read finished, and `done` called with what came of it; ServiceUnavailable if too many wait."""
        if self._call_soon is None:
            while (result := slice_of(read)) is None:
                pass
            done(result)
            return
        if self._count >= WAITING_MAX:
            raise ServiceUnavailable(BUSY)
        self._queues.setdefault(exchange.connection, deque()).append((read, done))
        self._count += 1
        if self._count == 1:
            self._call_soon(self._turn)

    def _turn(self) -> None:
        owner, queue = next(iter(self._queues.items()))
        read, done = queue[0]
        result = slice_of(read)
        if result is not None:
            queue.popleft()
            self._count -= 1
            del self._queues[owner]
            if queue:
                self._queues[owner] = queue
        if self._count:
            assert self._call_soon is not None
            self._call_soon(self._turn)
        if result is not None:
            done(result)


def slice_of(read: LongRead) -> Result | None:
    """Read for a slice of time; the result if that was enough."""
    ends = time.perf_counter() + SLICE_SECONDS
    try:
        while (answer := read.step()) is None:
            if time.perf_counter() > ends:
                return None
    except Exception as error:
        return Result(error=error)
    return Result(answer)
