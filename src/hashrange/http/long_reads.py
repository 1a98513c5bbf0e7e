"""Reads that take longer than their turn: they go on a slice at a time, between the requests of others.

Only one of them is under way at a time, so that however many there are, a short request waits for one slice. They take
turns by connection: who asks for many pages at once waits for his own, not the others for him. Who goes away is
forgotten when his turn comes.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hashrange.errors import ServiceUnavailable
from hashrange.http.exchange import Exchange
from hashrange.http.overload import BUSY, CallSoon, Pool, request_bytes
from hashrange.operations.operation import LongRead
from hashrange.storage.interface import Done, Result

if TYPE_CHECKING:
    from hashrange.http.connection import Connection

SLICE_SECONDS = 0.002
WAITING_MAX = 1000


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A read that waits for its turn, who is told when it is done, and what it counts in memory."""

    read: LongRead
    done: Done
    size_bytes: int


class LongReads:
    """The reads that are not finished. Without a loop to return to, each is read to its end."""

    def __init__(self, pool: Pool, call_soon: CallSoon | None = None) -> None:
        self._pool = pool
        self._call_soon = call_soon
        self._queues: dict[Connection, deque[Unfinished]] = {}  # whose turn it is comes first
        self._count = 0

    def start(self, read: LongRead, done: Done, exchange: Exchange) -> None:
        """Have a read finished, and `done` called with what came of it; ServiceUnavailable if too many wait."""
        if self._call_soon is None:
            while (result := slice_of(read)) is None:
                pass
            done(result)
            return
        size_bytes = request_bytes(exchange.body) + read.held_bytes
        if self._count >= WAITING_MAX or not self._pool.take(size_bytes):
            raise ServiceUnavailable(BUSY)
        self._queues.setdefault(exchange.connection, deque()).append(Unfinished(read, done, size_bytes))
        self._count += 1
        if self._count == 1:
            self._call_soon(self._turn)

    def _turn(self) -> None:
        """Read a slice of whatever is first. If that was its end, its connection's next one is last in the line."""
        connection, queue = next(iter(self._queues.items()))
        first = queue[0]
        result = slice_of(first.read) if connection.pending else None
        if result is not None or not connection.pending:
            del self._queues[connection]
            self._settle(queue.popleft())
            if queue:
                self._queues[connection] = queue
        if self._count:
            assert self._call_soon is not None
            self._call_soon(self._turn)
        if result is not None:
            first.done(result)

    def _settle(self, read: Unfinished) -> None:
        self._count -= 1
        self._pool.give_back(read.size_bytes)


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
