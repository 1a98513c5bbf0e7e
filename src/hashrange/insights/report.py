"""Reports on the most used keys over a stretch of time, made from its minutes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import orjson

from hashrange.insights.rules import Resource, Rule
from hashrange.insights.top_keys import Key, TopKeys
from hashrange.insights.window import MINUTES_KEPT, Window, windows
from hashrange.storage.interface import Snapshot


@dataclass(frozen=True, slots=True)
class Contributor:
    """A key, at least how much it weighs, and how much in each period in which it is known to have been used."""

    key: tuple[str, ...]  # the contents of the key attributes
    weight: float
    periods: list[tuple[int, float]]  # by the first minute


@dataclass(frozen=True, slots=True)
class Report:
    """What the keys of a table or index weigh, the heaviest first. `periods` are given by their first minutes."""

    labels: tuple[str, ...]
    total: float = 0.0
    forgotten: float = 0.0  # no key weighs more than this above its `weight`
    known_keys: int = 0
    contributors: list[Contributor] = field(default_factory=list)
    periods: list[tuple[int, Window]] = field(default_factory=list)


def report(
    snapshot: Snapshot,
    resource: Resource,
    rule: Rule,
    *,
    first_minute: int,
    end_minute: int,
    period_minutes: int = 1,
    contributors_max: int = 10,
    by_sum: bool = True,
) -> Report:
    """The heaviest keys of some minutes, of which at most a day is looked at.

    `by_sum` orders them by their weight in all, otherwise by that in their heaviest period.
    """
    first_minute = max(first_minute, end_minute - MINUTES_KEPT, 0)
    minutes = windows(snapshot, resource, rule, first_minute, end_minute)
    periods = list(in_periods(minutes, period_minutes))
    whole = TopKeys.merged(window.keys for _, window in periods)
    key = resource.key
    chosen = whole.top(contributors_max) if by_sum else heaviest_once(whole, periods, contributors_max)
    return Report(
        labels=key.names if rule.by_sort_key else key.partition,
        total=whole.total,
        forgotten=whole.forgotten,
        known_keys=len(whole.counts),
        contributors=[Contributor(tuple(orjson.loads(each)), weight, shares(each, periods)) for each, weight in chosen],
        periods=periods,
    )


def in_periods(minutes: Iterator[tuple[int, Window]], period_minutes: int) -> Iterator[tuple[int, Window]]:
    """Minutes merged into periods that begin at multiples of their length."""
    current: tuple[int, Window] | None = None
    for minute, window in minutes:
        start = minute - minute % period_minutes
        if current is not None and current[0] == start:
            current[1].merge(window)
            continue
        if current is not None:
            yield current
        current = start, window
    if current is not None:
        yield current


def heaviest_once(whole: TopKeys, periods: Sequence[tuple[int, Window]], number: int) -> list[tuple[Key, float]]:
    """The keys with the heaviest single periods, with their weight in all."""
    peaks = {key: max(window.keys.counts.get(key, 0.0) for _, window in periods) for key in whole.counts}
    keys = sorted(peaks, key=lambda key: (-peaks[key], key))[:number]
    return [(key, whole.counts[key]) for key in keys]


def shares(key: Key, periods: Sequence[tuple[int, Window]]) -> list[tuple[int, float]]:
    return [(start, window.keys.counts[key]) for start, window in periods if key in window.keys.counts]
