"""Partitions: the slices of a table's keys, each with a throughput that no key in it can exceed.

A table begins with equal slices of the hash space. What flows to the table goes to whichever partition needs it, up to
the most that one partition does ("adaptive capacity"); without that, each has its equal share. A slice that stays too
hot is split where its heat has its middle: between two partition keys, or inside one, between two sort keys.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence

from hashrange.engine.keyspace import PARTITION_HASH_BYTES

SAMPLES_MAX = 64
HASH_SPACE = 1 << (8 * PARTITION_HASH_BYTES)


def bounds_of(count: int, splits: Sequence[bytes]) -> list[bytes]:
    """Where partitions after the first begin: equal slices of the hash space, and the splits."""
    equal = (HASH_SPACE * number // count for number in range(1, count))
    return sorted({*(bound.to_bytes(PARTITION_HASH_BYTES) for bound in equal), *splits})


class Heat:
    """Which keys of one partition were refused lately, and for how many minutes in a row some were."""

    __slots__ = ("_minute", "_minutes", "_samples")

    def __init__(self) -> None:
        self._samples: deque[bytes] = deque(maxlen=SAMPLES_MAX)
        self._minute = 0
        self._minutes = 0

    def add(self, base_key: bytes, minute: int) -> None:
        if minute > self._minute:
            self._minutes = self._minutes + 1 if minute == self._minute + 1 else 1
            self._minute = minute
        self._samples.append(base_key)

    def split(self, minutes: int, *, inside_collections: bool) -> bytes | None:
        """Where to split, if it has been hot for so many minutes and there is a place that divides the heat."""
        if self._minutes < minutes:
            return None
        whole = None if inside_collections else PARTITION_HASH_BYTES
        keys = sorted(key[:whole] for key in self._samples)
        middle = keys[len(keys) // 2]
        if middle == keys[0]:  # half of the heat or more is at the first key: leave it alone with itself
            middle = next((key for key in keys if key > keys[0]), b"")
        return middle or None


class Partitions:
    """The bounds of one table's or index's partitions."""

    __slots__ = ("bounds", "heats")

    def __init__(self, count: int, splits: Sequence[bytes]) -> None:
        self.bounds = bounds_of(count, splits)
        self.heats: dict[int, Heat] = {}

    @property
    def count(self) -> int:
        return len(self.bounds) + 1

    def number_of(self, base_key: bytes) -> int:
        return bisect_right(self.bounds, base_key)

    def refused(self, base_key: bytes, minute: int) -> None:
        self.heats.setdefault(self.number_of(base_key), Heat()).add(base_key, minute)

    def first_of(self, number: int) -> bytes:
        """Where a partition begins. It keeps its name when others are split."""
        return self.bounds[number - 1] if number else b""
