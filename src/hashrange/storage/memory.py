"""A store in memory: for tests, and for servers whose data may vanish. A new one is ready at once.

Plans run in the thread that submits them. A snapshot is the data itself with the lock held, so it costs nothing
to open; writes of other threads wait until it is closed, and writes of the same thread are held back until then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from types import TracebackType

from sortedcontainers import SortedList

from hashrange.storage.interface import (
    Deliver,
    Done,
    Plan,
    Planner,
    Result,
    Unavailable,
    deliver_inline,
)
from hashrange.storage.plans import checked_size_bytes


class MemoryStore:
    """A dict and its sorted keys behind the interface of a store."""

    def __init__(self, deliver: Deliver = deliver_inline) -> None:
        self._deliver = deliver
        self._data: dict[bytes, bytes] = {}
        self._keys: SortedList = SortedList()
        self._lock = threading.RLock()
        self._snapshots_open = 0
        self._held_back: list[tuple[Planner, Done]] = []
        self._closed = False
        self._snapshot = MemorySnapshot(self)

    def read(self) -> MemorySnapshot:
        return self._snapshot

    def write(self, plan: Planner, done: Done) -> None:
        with self._lock:
            if self._snapshots_open:
                self._held_back.append((plan, done))
                return
            result = self._run(plan)
        self._deliver([(done, result)])

    def close(self) -> None:
        with self._lock:
            self._closed = True

    def _run(self, planner: Planner) -> Result:
        if self._closed:
            return Result(error=Unavailable("The store is closed."))
        try:
            plan = planner(self._snapshot)
            checked_size_bytes(plan)
            changes = self._changes(plan)
        except Exception as error:
            return Result(error=error)
        self._apply(changes)
        return Result(plan.answer)

    def _changes(self, plan: Plan) -> dict[bytes, bytes | None]:
        """What the plan leaves under each key it touches; computed first, so that a plan cannot half happen."""
        changes = dict(plan.mutations)
        for key, amount in plan.adds:
            current = changes[key] if key in changes else self._data.get(key)
            total = int.from_bytes(current or b"", "little", signed=True) + amount
            changes[key] = total.to_bytes(8, "little", signed=True)
        return changes

    def _apply(self, changes: dict[bytes, bytes | None]) -> None:
        data = self._data
        for key, value in changes.items():
            if value is not None:
                if key not in data:
                    self._keys.add(key)
                data[key] = value
            elif key in data:
                del data[key]
                self._keys.remove(key)

    def _enter(self) -> None:
        self._lock.acquire()
        self._snapshots_open += 1

    def _leave(self) -> None:
        self._snapshots_open -= 1
        held_back: list[tuple[Planner, Done]] = []
        if not self._snapshots_open and self._held_back:
            held_back, self._held_back = self._held_back, held_back
        self._lock.release()
        for plan, done in held_back:
            self.write(plan, done)


class MemorySnapshot:
    """The data of a `MemoryStore`, standing still while a reader is inside `with`."""

    __slots__ = ("_data", "_keys", "_store", "get")

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._data = store._data
        self._keys = store._keys
        self.get: Callable[[bytes], bytes | None] = store._data.get

    def __enter__(self) -> MemorySnapshot:
        self._store._enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._store._leave()

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        return [self._data.get(key) for key in keys]

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        data = self._data
        return ((key, data[key]) for key in islice(self._range(start, end, reverse), limit))

    def first_values(self, start: bytes, end: bytes, count: int, *, reverse: bool = False) -> tuple[list[bytes], bytes]:
        keys = list(islice(self._range(start, end, reverse), count))
        return list(map(self._data.__getitem__, keys)), keys[-1] if keys else b""

    def _range(self, start: bytes, end: bytes, reverse: bool) -> Iterator[bytes]:
        return self._keys.irange(start, end, (True, False), reverse) if start < end else iter(())
