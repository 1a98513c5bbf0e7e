"""What happens when there is more than the server can hold: somebody is told so at once, in words that SDKs act on.

Memory is divided into pools, so that who fills one does not starve the others:

    bodies    requests that have not arrived whole, or arrived while their connection may not go on
    answers   answers that their clients have not read
    reads     requests that are read in slices, and what they have found
    writes    requests that wait for the store's writer

A client whose request does not fit is answered 503 ServiceUnavailable, which every AWS SDK retries after a pause; its
request was not carried out. Where an answer does not fit, the client that has been idle over its own for the longest
is cut off. A pool that holds nothing takes whatever comes, so that no single request is too large for a small server.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from hashrange.errors import ServiceUnavailable
from hashrange.http.exchange import Exchange, Handler
from hashrange.storage.interface import Done, Planner, Result, Store

BUSY = "The server has more requests at the moment than it can hold. Please try again."
MEMORY_BYTES_MAX = 256 * 1024 * 1024
WRITES_WAITING_MAX = 10_000
VALUE_BYTES = 256  # about what a value with its dict takes in memory
LARGE_BODY_BYTES = 256 * 1024


@dataclass(slots=True)
class Pool:
    """Bytes that all connections hold together for one purpose."""

    bytes_max: int
    held_bytes: int = 0

    def has_room(self, size_bytes: int, *, own_bytes: int = 0) -> bool:
        """Whether there is room for more, for somebody who holds `own_bytes` already."""
        return self.held_bytes + size_bytes <= self.bytes_max or self.held_bytes <= own_bytes

    def take(self, size_bytes: int, *, own_bytes: int = 0) -> bool:
        """Whether there is room for more; then it is taken."""
        held_bytes = self.held_bytes + size_bytes
        if held_bytes > self.bytes_max and not self.has_room(size_bytes, own_bytes=own_bytes):
            return False
        self.held_bytes = held_bytes
        return True

    def give_back(self, size_bytes: int) -> None:
        self.held_bytes -= size_bytes
        assert self.held_bytes >= 0


@dataclass(frozen=True, slots=True)
class Memory:
    """The pools of one server."""

    bodies: Pool
    answers: Pool
    reads: Pool
    writes: Pool

    @classmethod
    def of(cls, bytes_max: int) -> Memory:
        eighth = bytes_max // 8
        return cls(bodies=Pool(2 * eighth), answers=Pool(3 * eighth), reads=Pool(eighth), writes=Pool(2 * eighth))


def request_bytes(body: bytes) -> int:
    """About what a request takes in memory while it waits."""
    return len(body) + VALUE_BYTES * body.count(b"{")


CallSoon = Callable[[Callable[[], None]], Any]
"""Has something done after whatever else there is to do; an event loop's `call_soon`."""


class WriteQueue:
    """The writes that clients wait for, before they come to the store's own queue.

    Those that a turn of the loop brings are handed over together at its end. The store's thread then finds all of them
    for its next commit, and does not compete with the loop for the interpreter while that still reads requests.
    """

    __slots__ = ("_call_soon", "_gathered", "_pool", "_store", "count")

    def __init__(self, store: Store, pool: Pool, call_soon: CallSoon | None = None) -> None:
        self._store = store
        self._pool = pool
        self._call_soon = call_soon  # None: there is no loop, and nothing to wait for
        self._gathered: list[tuple[Planner, Done]] = []
        self.count = 0

    def write(self, plan: Planner, done: Done, body: bytes) -> None:
        """Have a plan carried out that was made from a request with this body; ServiceUnavailable if too many wait."""
        size_bytes = request_bytes(body)
        if self.count >= WRITES_WAITING_MAX or not self._pool.take(size_bytes):
            raise ServiceUnavailable(BUSY)
        self.count += 1

        def finish(result: Result) -> None:
            self.count -= 1
            self._pool.give_back(size_bytes)
            done(result)

        if self._call_soon is None:
            self._store.write(plan, finish)
            return
        if not self._gathered:
            self._call_soon(self._hand_over)
        self._gathered.append((plan, finish))

    def _hand_over(self) -> None:
        gathered, self._gathered = self._gathered, []
        for plan, finish in gathered:
            self._store.write(plan, finish)


def busy_answer(exchange: Exchange) -> None:
    """A handler for requests that there is no room for."""
    error = {"__type": f"{ServiceUnavailable.namespace}#{ServiceUnavailable.__name__}", "message": BUSY}
    exchange.respond(ServiceUnavailable.status, b"Content-Type: application/x-amz-json-1.0\r\n", orjson.dumps(error))


def undisturbed(handler: Handler) -> Handler:
    """The handler for a large body. Millions of values made at once are no garbage, but the collector would look."""

    def handle(exchange: Exchange) -> None:
        gc.disable()
        try:
            handler(exchange)
        finally:
            gc.enable()

    return handle
