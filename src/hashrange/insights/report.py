"""Reports on the most used keys over a stretch of time, made from its minutes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from hashrange.engine.parts import Parts, whole
from hashrange.insights.rules import Resource, Rule
from hashrange.insights.top_keys import KEYS_MERGED, Key, TopKeys
from hashrange.insights.window import MINUTES_KEPT, Window, windows
from hashrange.storage.interface import Snapshot

MINUTES_PER_PART = 10  # each has hundreds of keys

Periods = list[tuple[int, Window]]
"""By their first minutes, in order."""


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


def report(snapshot: Snapshot, resource: Resource, rule: Rule, **wanted: Any) -> Report:
    """The report of `report_in_parts`, at once."""
    return whole(report_in_parts(resource, rule, **wanted), snapshot)


def report_in_parts(
    resource: Resource,
    rule: Rule,
    *,
    first_minute: int,
    end_minute: int,
    period_minutes: int = 1,
    contributors_max: int = 10,
    by_sum: bool = True,
) -> Parts[Report]:
    """The heaviest keys of some minutes, of which at most a day is looked at.

    `by_sum` orders them by their weight in all, otherwise by that in their heaviest period.
    """
    first_minute = max(first_minute, end_minute - MINUTES_KEPT, 0)
    periods: Periods = []
    for start in range(first_minute, end_minute, MINUTES_PER_PART):
        snapshot = yield
        for minute, window in windows(snapshot, resource, rule, start, min(start + MINUTES_PER_PART, end_minute)):
            add_minute(periods, minute - minute % period_minutes, window)
    keys = TopKeys(KEYS_MERGED)
    for number, (_, window) in enumerate(periods):
        if number % MINUTES_PER_PART == 0:
            yield
        keys.merge(window.keys)
    chosen = keys.top(contributors_max) if by_sum else (yield from heaviest_once(keys, periods, contributors_max))
    contributors = []
    for key, weight in chosen:
        yield
        contributors.append(Contributor(tuple(orjson.loads(key)), weight, shares(key, periods)))
    return Report(
        labels=resource.key.names if rule.by_sort_key else resource.key.partition,
        total=keys.total,
        forgotten=keys.forgotten,
        known_keys=len(keys.counts),
        contributors=contributors,
        periods=periods,
    )


def add_minute(periods: Periods, start: int, window: Window) -> None:
    """Merge a minute into its period, which is the last one or a new one."""
    if periods and periods[-1][0] == start:
        periods[-1][1].merge(window)
    else:
        periods.append((start, window))


def heaviest_once(whole: TopKeys, periods: Periods, number: int) -> Parts[list[tuple[Key, float]]]:
    """The keys with the heaviest single periods, with their weight in all."""
    peaks = dict.fromkeys(whole.counts, 0.0)
    for count, (_, window) in enumerate(periods):
        if count % MINUTES_PER_PART == 0:
            yield
        for key, weight in window.keys.counts.items():
            if weight > peaks.get(key, weight):
                peaks[key] = weight
    keys = sorted(peaks, key=lambda key: (-peaks[key], key))[:number]
    return [(key, whole.counts[key]) for key in keys]


def shares(key: Key, periods: Periods) -> list[tuple[int, float]]:
    return [(start, window.keys.counts[key]) for start, window in periods if key in window.keys.counts]
