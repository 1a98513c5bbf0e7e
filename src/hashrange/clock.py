"""Time is a parameter: the one place that asks the operating system what time it is."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Wall-clock time. Everything that depends on time is handed one of these."""

    def seconds(self) -> float:
        """Seconds since the epoch."""
        ...

    def micros(self) -> int:
        """Whole microseconds since the epoch."""
        ...


class SystemClock:
    """The machine's own clock."""

    seconds = staticmethod(time.time)  # every request asks, and is spared a call

    def micros(self) -> int:
        return time.time_ns() // 1000


class ManualClock:
    """A clock that moves only when it is told to."""

    def __init__(self, seconds: float = 1_800_000_000.0) -> None:
        self._micros = int(seconds * 1_000_000)

    def advance(self, seconds: float) -> None:
        self._micros += int(seconds * 1_000_000)

    def seconds(self) -> float:
        return self._micros / 1_000_000

    def micros(self) -> int:
        return self._micros


class OffsetClock:
    """Another clock, moved by so much. Whoever keeps the offset sets it here; see `engine/clock_offset.py`."""

    __slots__ = ("_base", "offset_micros")

    def __init__(self, base: Clock, offset_micros: int = 0) -> None:
        self._base = base
        self.offset_micros = offset_micros

    def seconds(self) -> float:
        return self.micros() / 1_000_000

    def micros(self) -> int:
        return self._base.micros() + self.offset_micros

    def unmoved_micros(self) -> int:
        """What the clock would say had nobody moved it."""
        return self._base.micros()

    def unmoved_seconds(self) -> float:
        return self._base.seconds()
