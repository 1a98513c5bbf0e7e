"""One metric, one statistic, one period: the values that CloudWatch draws a line through.

Periods begin at the start that was asked for, rounded down to the minute. What is shorter than a minute is answered by
the minute. Whole hours are read from the records of hours, everything else from those of minutes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from hashrange.engine.parts import Parts
from hashrange.engine.scope import Scope
from hashrange.metrics.points import DAYS_KEPT, DYNAMODB, MINUTES_PER_HOUR
from hashrange.metrics.series import hours, series
from hashrange.metrics.statistic import Statistic
from hashrange.metrics.units import unit_of
from hashrange.storage.interface import Snapshot

SECONDS_PER_MINUTE = 60
SECONDS_PER_DAY = 86_400
SHORT_PERIODS = (1, 5, 10, 20, 30)  # CloudWatch has them for metrics of high resolution
RECORDS_PER_PART = 50  # a record of a busy table takes some tens of microseconds
PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,10})?|100)")

STATISTICS: dict[str, Callable[[Statistic], float]] = {
    "SampleCount": lambda statistic: float(statistic.count),
    "Sum": lambda statistic: statistic.sum,
    "Average": lambda statistic: statistic.average,
    "Minimum": lambda statistic: statistic.minimum,
    "Maximum": lambda statistic: statistic.maximum,
}

Values = dict[int, float]
"""By the second at which their period begins."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What of a metric somebody wants to know."""

    metric: str
    dimensions: Mapping[str, str]
    period_seconds: int
    statistic: str = ""
    namespace: str = DYNAMODB
    unit: str | None = None

    @property
    def period_minutes(self) -> int:
        return max(1, self.period_seconds // SECONDS_PER_MINUTE)


@dataclass(slots=True)
class Window:
    """A stretch of time, as far as there can be anything in it, and how many records may be looked at for it."""

    start_seconds: float
    end_seconds: float
    now_seconds: float
    records_left: int = field(default=10**9)

    @property
    def first_minute(self) -> int:
        return int(self.start_seconds // SECONDS_PER_MINUTE)

    @property
    def end_minute(self) -> int:
        """The first minute that is not part of it any more. Nothing is known of the future."""
        end = min(self.end_seconds, self.now_seconds + SECONDS_PER_MINUTE)
        return int(-(-end // SECONDS_PER_MINUTE))


def is_period(seconds: int, short: Sequence[int] = SHORT_PERIODS) -> bool:
    return seconds in short or (seconds >= SECONDS_PER_MINUTE and seconds % SECONDS_PER_MINUTE == 0)


def is_statistic(name: str) -> bool:
    return name in STATISTICS or PERCENTILE.fullmatch(name) is not None


def value_of(statistic: Statistic, name: str) -> float | None:
    """One number of a statistic; None if it is not known."""
    get = STATISTICS.get(name)
    if get is not None:
        return get(statistic)
    match = PERCENTILE.fullmatch(name)
    assert match is not None
    return statistic.percentile(float(match.group(1)))


def read_periods(scope: Scope, ask: Ask, window: Window, tell: Callable[[int, Statistic], None]) -> Parts[None]:
    """Tell of the periods that have values, one after the other, by the second at which they begin."""
    if ask.unit is not None and unit_of(ask.namespace, ask.metric, ask.unit) != ask.unit:
        return
    period = ask.period_minutes
    first, end = window.first_minute, window.end_minute
    oldest = int(window.now_seconds - DAYS_KEPT * SECONDS_PER_DAY) // SECONDS_PER_MINUTE
    if first < oldest:  # begin with the first period in which there can still be anything
        first += (oldest - first) // period * period
    window.records_left -= records_of(ask, first, end)
    at_once = RECORDS_PER_PART * (MINUTES_PER_HOUR if is_hourly(ask, first) else 1)
    number, together = 0, Statistic()
    for start in range(first, end, at_once):
        snapshot = yield
        for minute, statistic in minutes(snapshot, scope, ask, start, min(start + at_once, end)):
            if (minute - first) // period != number:
                if together.count:
                    tell((first + number * period) * SECONDS_PER_MINUTE, together)
                number, together = (minute - first) // period, Statistic()
            together.add(statistic)
    if together.count:
        tell((first + number * period) * SECONDS_PER_MINUTE, together)


def records_of(ask: Ask, first: int, end: int) -> int:
    """How many records may have been looked at for it."""
    return max(1, (end - first) // (MINUTES_PER_HOUR if is_hourly(ask, first) else 1))


def is_hourly(ask: Ask, first: int) -> bool:
    return ask.period_minutes % MINUTES_PER_HOUR == 0 and first % MINUTES_PER_HOUR == 0


def minutes(snapshot: Snapshot, scope: Scope, ask: Ask, first: int, end: int) -> list[tuple[int, Statistic]]:
    if not is_hourly(ask, first):
        return series(snapshot, scope, ask.metric, ask.dimensions, first, end, namespace=ask.namespace)
    found = hours(snapshot, scope, ask.metric, ask.dimensions, first // MINUTES_PER_HOUR, end, namespace=ask.namespace)
    return [(hour * MINUTES_PER_HOUR, statistic) for hour, statistic in found]


def values(scope: Scope, ask: Ask, window: Window) -> Parts[Values]:
    found: Values = {}

    def tell(start: int, statistic: Statistic) -> None:
        value = value_of(statistic, ask.statistic)
        if value is not None:
            found[start] = value

    yield from read_periods(scope, ask, window, tell)
    return found
