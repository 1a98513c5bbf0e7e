"""What is kept of many measured values: how many, their sum, the least, the greatest, and how they are distributed.

A distribution is a histogram whose bounds grow by a tenth from one to the next, so a percentile is right to about
five per cent whether it is a microsecond or a minute. Statistics of the same thing can be added up, in any order: that
is what makes those of a minute the sum of what every process has measured, and those of an hour the sum of its minutes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, exp, floor, log
from typing import Any

GROWTH = 1.1
LOG_GROWTH = log(GROWTH)
ZERO = -10_000  # the bucket of values that are nothing, which have no logarithm
LEAST = 1e-9  # what is less counts as nothing


@dataclass(slots=True)
class Statistic:
    """Values of one metric in one span of time. `buckets` is None where nobody asks for percentiles."""

    count: float = 0
    sum: float = 0.0
    minimum: float = 0.0
    maximum: float = 0.0
    buckets: dict[int, float] | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> Statistic:
        """The statistic of some values; at least one."""
        return cls(len(values), sum(values), min(values), max(values))

    @classmethod
    def distributed(cls, values: Iterable[float], scale: float = 1.0) -> Statistic:
        """The same with a distribution; of so many times the values."""
        ordered = sorted(values)
        least, greatest = ordered[0] * scale, ordered[-1] * scale
        return cls(len(ordered), sum(ordered) * scale, least, greatest, distribution(ordered, scale))

    @classmethod
    def repeated(cls, value: float, times: float) -> Statistic:
        """A value that was met so many times."""
        return cls(times, value * times, value, value, {bucket_of(value): times})

    def add(self, other: Statistic) -> None:
        """Count what another statistic has counted."""
        if not other.count:
            return
        if not self.count:
            self.minimum, self.maximum = other.minimum, other.maximum
        self.minimum = min(self.minimum, other.minimum)
        self.maximum = max(self.maximum, other.maximum)
        self.count += other.count
        self.sum += other.sum
        if other.buckets is not None:
            mine = self.buckets = {} if self.buckets is None else self.buckets
            for bucket, count in other.buckets.items():
                mine[bucket] = mine.get(bucket, 0) + count

    @property
    def average(self) -> float:
        return self.sum / self.count if self.count else 0.0

    def percentile(self, percent: float) -> float | None:
        """The value that so many per cent of the values do not exceed; None if it was not kept."""
        if self.buckets is None or not self.count or self.minimum < 0:
            return None
        if sum(self.buckets.values()) < self.count:  # of some values only the sums were given
            return None
        wanted = max(1.0, ceil(self.count * percent / 100))
        seen = 0.0
        for bucket in sorted(self.buckets):
            seen += self.buckets[bucket]
            if seen >= wanted:
                return min(max(middle_of(bucket), self.minimum), self.maximum)
        return self.maximum

    def dump(self) -> list[Any]:
        """As it is stored: four numbers, and the buckets with their counts, one after the other."""
        numbers = [self.count, self.sum, self.minimum, self.maximum]
        if self.buckets is None:
            return numbers
        return [*numbers, *(number for pair in self.buckets.items() for number in pair)]

    @classmethod
    def load(cls, stored: Sequence[Any]) -> Statistic:
        count, total, minimum, maximum = stored[:4]
        buckets = dict(zip(stored[4::2], stored[5::2], strict=True)) if len(stored) > 4 else None
        return cls(count, total, minimum, maximum, buckets)


def distribution(ordered: Sequence[float], scale: float = 1.0) -> dict[int, float]:
    """How many of some values, the least first and each so many times what is given, fall into each bucket. Buckets are
    few, so each bound is looked for among the values instead of the other way round."""
    found: dict[int, float] = {}
    done = 0
    while done < len(ordered):
        bucket = bucket_of(ordered[done] * scale)
        end = bisect_left(ordered, bound_after(bucket) / scale, done + 1)
        found[bucket] = found.get(bucket, 0) + end - done
        done = end
    return found


def bucket_of(value: float) -> int:
    return floor(log(value) / LOG_GROWTH) if value > LEAST else ZERO


def bound_after(bucket: int) -> float:
    """The least value that belongs into a later bucket."""
    return LEAST if bucket == ZERO else exp((bucket + 1) * LOG_GROWTH)


def middle_of(bucket: int) -> float:
    return 0.0 if bucket == ZERO else exp((bucket + 0.5) * LOG_GROWTH)
