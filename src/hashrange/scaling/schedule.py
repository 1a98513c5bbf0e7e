"""When a scheduled action is due: once at a time, at a rate, or by a cron expression, in a time zone.

at(2026-03-31T22:00:00)     rate(12 hours)     cron(30 6 ? * MON *)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hashrange.scaling.cron import Cron, parse_cron

FORM = re.compile(r"(at|rate|cron)\((.*)\)")
RATE = re.compile(r"([1-9][0-9]{0,5}) (minute|hour|day)(s?)")
UNIT_MINUTES = {"minute": 1, "hour": 60, "day": 1440}
MINUTE_MICROS = 60_000_000


class BadSchedule(ValueError):
    """A schedule, or a time zone, that nobody can follow; and why, in a sentence."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule with the time zone that it is meant in, and the times between which it holds."""

    expression: str
    timezone: str | None = None
    start_micros: int | None = None
    end_micros: int | None = None

    def first(self, now_micros: int) -> int | None:
        """When it is due for the first time. A start time is itself one of the times, unless there is only one."""
        if self.start_micros is None or isinstance(_parsed(self.expression), datetime):
            return self.following(now_micros, now_micros)
        return self._within(max(self.start_micros, now_micros))

    def following(self, last_micros: int, now_micros: int) -> int | None:
        """The next time after now, if there is one. A rate counts from the last time."""
        rule, zone = _parsed(self.expression), zone_of(self.timezone)
        if isinstance(rule, datetime):
            at = micros_of(rule.replace(tzinfo=zone))
            return self._within(at) if at > now_micros else None
        if isinstance(rule, int):
            rate_micros = rule * MINUTE_MICROS
            return self._within(now_micros + rate_micros - (now_micros - last_micros) % rate_micros)
        return self._within(_next_of(rule, zone, now_micros))

    def _within(self, at_micros: int | None) -> int | None:
        if at_micros is None or (self.end_micros is not None and at_micros > self.end_micros):
            return None
        return at_micros

    def check(self) -> None:
        """Raise `BadSchedule` if nobody can follow it."""
        zone_of(self.timezone)
        _parsed(self.expression)


@lru_cache(maxsize=256)
def _parsed(expression: str) -> datetime | int | Cron:
    """The moment, the rate in minutes, or the cron fields."""
    form = FORM.fullmatch(expression)
    if form is None:
        raise BadSchedule(f"Invalid schedule expression: {expression}")
    kind, inside = form.groups()
    try:
        if kind == "at":
            return datetime.strptime(inside, "%Y-%m-%dT%H:%M:%S")
        return _rate(inside) if kind == "rate" else parse_cron(inside)
    except ValueError as error:
        raise BadSchedule(f"Invalid schedule expression: {expression}") from error


def _rate(text: str) -> int:
    """So many minutes. One of a unit is written without an s, several with it."""
    match = RATE.fullmatch(text)
    if match is None or (match[1] == "1") == bool(match[3]):
        raise ValueError(text)
    return int(match[1]) * UNIT_MINUTES[match[2]]


def _next_of(cron: Cron, zone: tzinfo, now_micros: int) -> int | None:
    now = datetime.fromtimestamp(now_micros / 1_000_000, zone).replace(tzinfo=None)
    # When clocks go back an hour comes twice, and looking from a little earlier misses neither.
    for local in cron.after(now.replace(second=0, microsecond=0) - timedelta(hours=1)):
        at = micros_of(local.replace(tzinfo=zone))
        if at > now_micros:
            return at
    return None


def micros_of(moment: datetime) -> int:
    return int(moment.astimezone(UTC).timestamp()) * 1_000_000


@lru_cache(maxsize=64)
def zone_of(name: str | None) -> tzinfo:
    if name is None or name == "UTC":
        return UTC  # which is known where no other time zone is installed
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadSchedule(f"Invalid time zone: {name}") from error
