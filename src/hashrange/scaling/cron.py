"""Cron expressions as EventBridge has them: six fields, `minutes hours day-of-month month day-of-week year`.

Each field becomes the set of numbers that it allows. Of the two fields for days one is `?`; `L`, `W` and `#` name days
that depend on the month, so days are decided month by month.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time

MONTHS = {name: number for number, name in enumerate(calendar.month_abbr) if number}
WEEKDAYS = {name: number for number, name in enumerate(("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"), start=1)}
YEARS = (1970, 2199)

LAST_WEEKDAY = re.compile(r"([1-7]|[A-Z]{3})L")
NTH_WEEKDAY = re.compile(r"([1-7]|[A-Z]{3})#([1-5])")
NEAREST_WORKDAY = re.compile(r"([0-9]{1,2})W")
SEARCHED_YEARS = 41  # no date recurs less often: 29 February on a given weekday, across a century


class BadCron(ValueError):
    """Text that is not a cron expression."""


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed expression."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days_of_month: str  # "?" or the field
    months: tuple[int, ...]
    days_of_week: str  # "?" or the field
    years: frozenset[int]

    def after(self, moment: datetime) -> Iterator[datetime]:
        """The moments of the schedule from the given minute on, without a time zone, for some decades."""
        for year in range(moment.year, moment.year + SEARCHED_YEARS):
            for month in self.months if year in self.years else ():
                if (year, month) < (moment.year, moment.month):
                    continue
                for day in self._days(year, month):
                    yield from (
                        at
                        for at in (
                            datetime.combine(date(year, month, day), time(hour, minute))
                            for hour in self.hours
                            for minute in self.minutes
                        )
                        if at >= moment
                    )

    def _days(self, year: int, month: int) -> list[int]:
        last = calendar.monthrange(year, month)[1]
        if self.days_of_month != "?":
            allowed = _days_of_month(self.days_of_month, year, month, last)
        else:
            allowed = _days_of_week(self.days_of_week, year, month, last)
        return sorted(day for day in allowed if day <= last)


def parse_cron(text: str) -> Cron:
    fields = text.upper().split()
    if len(fields) != 6:
        raise BadCron(text)
    minutes, hours, days, months, weekdays, years = fields
    if (days == "?") == (weekdays == "?"):
        raise BadCron(text)
    cron = Cron(
        minutes=tuple(sorted(_numbers(minutes, 0, 59))),
        hours=tuple(sorted(_numbers(hours, 0, 23))),
        days_of_month=days,
        months=tuple(sorted(_numbers(months, 1, 12, MONTHS))),
        days_of_week=weekdays,
        years=frozenset(_numbers(years, *YEARS)),
    )
    cron._days(2024, 1)  # raises if the days make no sense
    return cron


def _days_of_month(field: str, year: int, month: int, last: int) -> set[int]:
    if field == "L":
        return {last}
    nearest = NEAREST_WORKDAY.fullmatch(field)
    if nearest is None:
        return _numbers(field, 1, 31)
    day = int(nearest[1])
    if not 1 <= day <= 31:
        raise BadCron(field)
    return {_nearest_workday(year, month, min(day, last), last)}


def _nearest_workday(year: int, month: int, day: int, last: int) -> int:
    """The day itself, or the Friday before or the Monday after it, within the month."""
    weekday = date(year, month, day).weekday()
    if weekday == 5:
        return day - 1 if day > 1 else day + 2
    if weekday == 6:
        return day + 1 if day < last else day - 2
    return day


def _days_of_week(field: str, year: int, month: int, last: int) -> set[int]:
    if field == "L":
        field = "SAT"
    end, nth = LAST_WEEKDAY.fullmatch(field), NTH_WEEKDAY.fullmatch(field)
    wanted = _numbers(end[1] if end else nth[1] if nth else field, 1, 7, WEEKDAYS)
    days = [day for day in range(1, last + 1) if (date(year, month, day).weekday() + 1) % 7 + 1 in wanted]
    if end:
        return {days[-1]}
    if nth:
        return set(days[int(nth[2]) - 1 : int(nth[2])])
    return set(days)


def _numbers(field: str, least: int, most: int, names: Mapping[str, int] | None = None) -> set[int]:
    """The numbers that a field of lists, ranges, steps and names allows."""
    known = {name.upper(): number for name, number in (names or {}).items()}
    found: set[int] = set()
    for part in field.split(","):
        span, slash, step = part.partition("/")
        first, dash, end = span.partition("-")
        low = least if first == "*" else _number(first, known)
        high = _number(end, known) if dash else most if first == "*" or slash else low
        if (first == "*" and dash) or not least <= low <= high <= most or (slash and not 0 < _number(step, {}) <= most):
            raise BadCron(field)
        found.update(range(low, high + 1, _number(step, {}) if slash else 1))
    return found


def _number(text: str, names: Mapping[str, int]) -> int:
    if text in names:
        return names[text]
    if re.fullmatch(r"[0-9]{1,4}", text) is None:
        raise BadCron(text)
    return int(text)
