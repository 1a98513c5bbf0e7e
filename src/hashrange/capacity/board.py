"""Sums that several worker processes add to, each in cells of its own, and that all of them can read.

Workers share one piece of memory: a file without a name, which they inherit. It has a column for each worker, and a
cell has one writer, so nothing is ever lost and nobody waits. A new sum is given its row under a lock; that happens
once for each limit of each table. Beside the sum each worker tells what credit it saw, for one that comes later.
"""

from __future__ import annotations

import fcntl
import logging
import mmap
import os
import threading
from typing import Protocol

log = logging.getLogger("hashrange.capacity")

Seen = tuple[float, float, float]
"""Credit, the units ever used that it reflects, and the second it was seen at."""

ROWS_MAX = 1 << 16
CELLS = 4  # of one worker in one row: its part of the sum, and what it saw last
NAME_BYTES = 24
COUNT_BYTES = 8
NAMES_BYTES = COUNT_BYTES + ROWS_MAX * NAME_BYTES


class Sum(Protocol):
    """Units ever used."""

    def add(self, units: float) -> None: ...

    def total(self) -> float: ...

    def tell(self, seen: Seen) -> None:
        """Let others know what credit there is."""
        ...

    def told(self) -> Seen | None:
        """What somebody saw last, if anybody did."""
        ...


class LocalSum:
    """A sum that only one process adds to."""

    __slots__ = ("_total",)

    def __init__(self) -> None:
        self._total = 0.0

    def add(self, units: float) -> None:
        self._total += units

    def total(self) -> float:
        return self._total

    def tell(self, seen: Seen) -> None:
        pass

    def told(self) -> Seen | None:
        return None


class Board(Protocol):
    """Gives out sums by name."""

    def sum(self, name: bytes) -> Sum: ...


class LocalBoard:
    """The board of a server that is one process, where nobody else has to find a sum."""

    def sum(self, name: bytes) -> Sum:
        return LocalSum()


class SharedBoard:
    """The board of several workers. Made once, before there are any; then each takes its column."""

    def __init__(self, workers: int, descriptor: int | None = None) -> None:
        """`descriptor` is that of a board which another process has made."""
        self._workers = workers
        self.descriptor = _nameless_file() if descriptor is None else descriptor
        size_bytes = NAMES_BYTES + ROWS_MAX * workers * CELLS * 8
        self.is_inherited_by_all, memory = _memory(self.descriptor, size_bytes)
        shared = memoryview(memory)
        self._names = shared[:NAMES_BYTES]
        self._cells = shared[NAMES_BYTES:].cast("d")
        self._lock = threading.Lock()
        self._rows: dict[bytes, int] = {}  # those that this process knows
        self._column = 0
        self._is_full = False
        self._without_row = LocalBoard()

    def take_column(self, worker: int) -> None:
        """Be that worker from now on. Its successor goes on where it stopped."""
        self._column = worker

    def sum(self, name: bytes) -> Sum:
        row = self._rows.get(name)
        if row is None:
            row = self._find(name)
        if row is None:
            if not self._is_full:
                log.warning("more than %d limits: the rest is counted by each worker alone", ROWS_MAX)
            self._is_full = True
            return self._without_row.sum(name)
        start = row * self._workers * CELLS
        return SharedSum(self._cells[start : start + self._workers * CELLS], self._workers, self._column)

    def _find(self, name: bytes) -> int | None:
        """The row of a name, which is given one if it has none."""
        with self._lock:
            fcntl.lockf(self.descriptor, fcntl.LOCK_EX)
            try:
                count = self._read_names()
                if name not in self._rows and count < ROWS_MAX:
                    self._write_name(count, name)
                return self._rows.get(name)
            finally:
                fcntl.lockf(self.descriptor, fcntl.LOCK_UN)

    def _read_names(self) -> int:
        """Take note of what others have added."""
        count = int.from_bytes(self._names[:COUNT_BYTES])
        for row in range(len(self._rows), count):
            start = COUNT_BYTES + row * NAME_BYTES
            self._rows[bytes(self._names[start : start + NAME_BYTES]).rstrip(b"\0")] = row
        return count

    def _write_name(self, row: int, name: bytes) -> None:
        start = COUNT_BYTES + row * NAME_BYTES
        self._names[start : start + NAME_BYTES] = name.ljust(NAME_BYTES, b"\0")
        self._names[:COUNT_BYTES] = (row + 1).to_bytes(COUNT_BYTES)
        self._rows[name] = row


def _nameless_file() -> int:
    """A file for processes to share, which is gone when the last of them is."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("hashrange")
    import tempfile  # which loads much that is not needed elsewhere

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _memory(descriptor: int, size_bytes: int) -> tuple[bool, mmap.mmap]:
    """Memory that is the content of a file; what is never written to takes no room. Where a process may not have files
    of that size, it is memory that only those will share who are forked from us."""
    try:
        os.ftruncate(descriptor, size_bytes)
    except OSError:
        return False, mmap.mmap(-1, size_bytes)
    return True, mmap.mmap(descriptor, size_bytes)


class SharedSum:
    """One row of the board, as one worker sees it: first every worker's part of the sum, then what each saw."""

    __slots__ = ("_cells", "_column", "_workers")

    def __init__(self, cells: memoryview[float], workers: int, column: int) -> None:
        self._cells = cells
        self._workers = workers
        self._column = column

    def add(self, units: float) -> None:
        self._cells[self._column] += units

    def total(self) -> float:
        return sum(self._cells[: self._workers])

    def tell(self, seen: Seen) -> None:
        start = self._workers + self._column * len(seen)
        self._cells[start], self._cells[start + 1], self._cells[start + 2] = seen

    def told(self) -> Seen | None:
        cells = self._cells[self._workers :].tolist()
        latest: Seen = max(zip(cells[0::3], cells[1::3], cells[2::3], strict=True), key=lambda seen: seen[2])
        return latest if latest[2] else None
