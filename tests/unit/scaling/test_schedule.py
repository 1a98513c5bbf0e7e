"""Schedules: which moments an expression names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hashrange.scaling.schedule import BadSchedule, Schedule

NOW = "2026-01-01T00:00:00"


def micros(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


def following(schedule: Schedule, count: int = 1, now: str = NOW) -> list[str]:
    found, at = [], schedule.first(micros(now))
    while at is not None and len(found) < count:
        found.append(datetime.fromtimestamp(at / 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S"))
        at = schedule.following(at, at)
    return found


@pytest.mark.parametrize(
    ("expression", "moments"),
    [
        ("at(2026-03-31T22:00:00)", ["2026-03-31T22:00:00"]),
        ("at(2025-03-31T22:00:00)", []),
        ("rate(1 minute)", ["2026-01-01T00:01:00", "2026-01-01T00:02:00"]),
        ("rate(12 hours)", ["2026-01-01T12:00:00", "2026-01-02T00:00:00"]),
        ("rate(2 days)", ["2026-01-03T00:00:00", "2026-01-05T00:00:00"]),
        ("cron(0 10 * * ? *)", ["2026-01-01T10:00:00", "2026-01-02T10:00:00"]),
        ("cron(30 6 ? * MON *)", ["2026-01-05T06:30:00", "2026-01-12T06:30:00"]),
        ("cron(0 18 ? * MON-FRI *)", ["2026-01-01T18:00:00", "2026-01-02T18:00:00", "2026-01-05T18:00:00"]),
        ("cron(0/20 23 31 DEC ? 2026)", [f"2026-12-31T23:{minute}:00" for minute in ("00", "20", "40")]),
        ("cron(0 8 1 * ? *)", ["2026-01-01T08:00:00", "2026-02-01T08:00:00"]),
        ("cron(0 0 L * ? *)", ["2026-01-31T00:00:00", "2026-02-28T00:00:00"]),
        ("cron(0 0 1W * ? *)", ["2026-02-02T00:00:00", "2026-03-02T00:00:00"]),
        ("cron(0 0 31W 1 ? *)", ["2026-01-30T00:00:00", "2027-01-29T00:00:00"]),
        ("cron(0 9 ? * 6#3 *)", ["2026-01-16T09:00:00", "2026-02-20T09:00:00"]),
        ("cron(0 9 ? * FRIL *)", ["2026-01-30T09:00:00", "2026-02-27T09:00:00"]),
        ("cron(0 12 29 2 ? *)", ["2028-02-29T12:00:00", "2032-02-29T12:00:00"]),
        ("cron(0,30 8-9 ? 1,7 1,SAT 2026)", ["2026-01-03T08:00:00", "2026-01-03T08:30:00", "2026-01-03T09:00:00"]),
        ("cron(0 0 30 2 ? *)", []),
    ],
)
def test_the_moments_of_an_expression(expression: str, moments: list[str]) -> None:
    assert following(Schedule(expression), max(len(moments), 1)) == moments


@pytest.mark.parametrize(
    "expression",
    [
        "30 6 ? * MON *",
        "at(2026-03-31)",
        "at(2026-02-30T00:00:00)",
        "rate(0 minutes)",
        "rate(1 minutes)",
        "rate(5 minute)",
        "rate(5 weeks)",
        "cron(0 10 * * *)",
        "cron(0 10 * * * *)",
        "cron(0 10 ? * ? *)",
        "cron(60 10 * * ? *)",
        "cron(0 24 * * ? *)",
        "cron(0 10 32 * ? *)",
        "cron(0 10 0W * ? *)",
        "cron(0 10 ? * 8 *)",
        "cron(0 10 ? * MON#6 *)",
        "cron(0/0 10 * * ? *)",
        "cron(5-1 10 * * ? *)",
        "cron(0 10 * FOO ? *)",
        "cron(0 10 * * ? 1969)",
    ],
)
def test_what_is_not_a_schedule(expression: str) -> None:
    with pytest.raises(BadSchedule, match="Invalid schedule expression"):
        Schedule(expression).check()


def test_an_unknown_time_zone_is_refused() -> None:
    with pytest.raises(BadSchedule, match="Invalid time zone: Moon/Crater"):
        Schedule("rate(1 hour)", "Moon/Crater").check()
    with pytest.raises(BadSchedule):
        Schedule("rate(1 hour)", "../../etc/passwd").check()


def test_cron_follows_the_clocks_of_its_time_zone() -> None:
    schedule = Schedule("cron(0 9 * * ? *)", "America/New_York")
    assert following(schedule, now="2026-03-07T00:00:00") == ["2026-03-07T14:00:00"]
    assert following(schedule, now="2026-03-08T00:00:00") == ["2026-03-08T13:00:00"]
    assert following(Schedule("at(2026-07-01T00:00:00)", "Asia/Tokyo")) == ["2026-06-30T15:00:00"]


def test_the_hour_that_does_not_exist_and_the_one_that_comes_twice() -> None:
    schedule = Schedule("cron(30 2 * * ? *)", "America/New_York")
    assert following(schedule, 2, "2026-03-08T05:00:00") == ["2026-03-08T07:30:00", "2026-03-09T06:30:00"]
    schedule = Schedule("cron(30 1 * * ? *)", "America/New_York")
    assert following(schedule, 2, "2026-11-01T00:00:00") == ["2026-11-01T05:30:00", "2026-11-02T06:30:00"]


def test_a_start_time_is_the_first_moment_and_an_end_time_the_last() -> None:
    start, end = micros("2026-02-01T00:10:00"), micros("2026-02-01T03:00:00")
    schedule = Schedule("rate(1 hour)", start_micros=start, end_micros=end)
    assert following(schedule, 5) == [f"2026-02-01T0{hour}:10:00" for hour in range(3)]
    schedule = Schedule("cron(0 * * * ? *)", start_micros=start, end_micros=end)
    assert following(schedule, 5) == ["2026-02-01T00:10:00", *(f"2026-02-01T0{hour}:00:00" for hour in (1, 2, 3))]


def test_a_rate_keeps_its_beat_when_somebody_comes_late() -> None:
    schedule = Schedule("rate(10 minutes)")
    due = micros("2026-01-01T00:10:00")
    assert schedule.following(due, due + 3_000_000) == micros("2026-01-01T00:20:00")
    assert schedule.following(due, micros("2026-01-01T01:11:00")) == micros("2026-01-01T01:20:00")
