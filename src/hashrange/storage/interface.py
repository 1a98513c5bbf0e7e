"""What the engine asks of a store, and all it may ask.

A store keeps byte strings under byte strings, in order. It has never heard of a table. A *plan* is a function
that reads the latest state, checks whatever it must, and returns its mutations and its answer, or raises. It
changes nothing itself, so a plan that raises leaves no trace, and a store may run a plan more than once.

Keys are not empty, may have any length, and start with a byte below 0xFF (stores keep their own records there).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

log = logging.getLogger("hashrange.storage")


class StoreError(Exception):
    """The store could not do what it was asked; never the client's fault."""


class Conflict(StoreError):
    """A plan met a concurrent change too often."""


class Corruption(StoreError):
    """What is on disk is not what was written."""


class Unavailable(StoreError):
    """The store cannot take this write now (disk full, commit failed, closing). Reads may still work."""


class CannotOpen(StoreError):
    """The data directory is not ours, not writable, or written by a newer version. The text is for people."""


class Snapshot(Protocol):
    """A consistent view of the store, which no write changes while it is open.

    What `scan` returns is read inside the `with` (or inside the plan). A store may hold writes back while a snapshot
    is open, so snapshots are short, and a thread that has one open may submit writes but must not wait for them.
    Snapshots may be nested in one thread; the inner one may be newer.
    """

    def get(self, key: bytes) -> bytes | None: ...

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]: ...

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Entries with start <= key < end, in key order (descending if `reverse`), at most `limit` of them."""
        ...

    def first_values(self, start: bytes, end: bytes, count: int, *, reverse: bool = False) -> tuple[list[bytes], bytes]:
        """The values of the first `count` entries that a scan would meet, and the key of the last of them. This is
        the fastest way to many entries; all values that it returns are in memory."""
        ...


@dataclass(slots=True)
class Plan:
    """What a plan wants done, all or nothing, and what to answer when it is.

    `mutations` are applied in order: a value replaces, None deletes. `adds` come after them and are counters: a signed
    64-bit integer (little endian) under the key, absent counting as zero; stores may merge them, and other plans in
    the same commit need not see them. An entry that reaches zero may stay as zero. A later mutation of the key replaces
    what was added before; a plan that removes a counter names its key, as a scan may not meet it yet.
    """

    mutations: list[tuple[bytes, bytes | None]] = field(default_factory=list)
    adds: list[tuple[bytes, int]] = field(default_factory=list)
    answer: Any = None


Planner = Callable[[Snapshot], Plan]


@dataclass(slots=True)
class Result:
    """The fate of a plan: its answer, durable as the store promises, or the error that prevented it. Never changed."""

    answer: Any = None
    error: BaseException | None = None

    def unwrap(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.answer


Done = Callable[[Result], None]
"""Told the fate of one plan, once. It may submit further plans, and it does not raise."""

Completions = list[tuple[Done, Result]]
Deliver = Callable[[Completions], None]
"""How a store hands back finished plans: one call for a whole commit, from whichever thread committed."""

Lost = Callable[[], None]
"""Told that this process can use the store no more, after a disk failed in the middle of a commit."""


def deliver_inline(completions: Completions) -> None:
    """Call every `done` in the thread that committed. One that raises must not keep the others from their answer."""
    for done, result in completions:
        try:
            done(result)
        except Exception:
            log.exception("the answer to a finished write could not be delivered")


class Store(Protocol):
    """An ordered, transactional key-value store."""

    def read(self) -> AbstractContextManager[Snapshot]: ...

    def write(self, plan: Planner, done: Done) -> None:
        """Run `plan` on the latest state; call `done` when its mutations are as durable as the store promises.

        Plans take effect one after the other, in some order, as if alone. An error raised by the plan is the
        result's error, and is delivered no earlier than the commit of everything the plan may have read.
        """
        ...

    def close(self) -> None:
        """Finish what was accepted, then let go of the files. Later writes fail with `Unavailable`."""
        ...


def write_and_wait(store: Store, plan: Planner) -> Any:
    """Run one plan and wait for its fate. For start-up, tools and tests; never from an event loop."""
    import threading

    finished = threading.Event()
    results: list[Result] = []

    def done(result: Result) -> None:
        results.append(result)
        finished.set()

    store.write(plan, done)
    finished.wait()
    return results[0].unwrap()
