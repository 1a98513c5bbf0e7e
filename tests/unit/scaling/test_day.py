"""A whole day: the capacity follows the traffic up and down, and what the day allows is kept."""

from __future__ import annotations

from itertools import pairwise
from math import pi, sin

from hashrange.limits import DECREASES_PER_DAY_FREE
from unit.scaling.conftest import HOUR, MINUTE, Scaled

MINUTES = 24 * 60
QUIET, BUSY = 10.0, 210.0


def traffic(minute: int) -> float:
    """Units per second: quiet at midnight, busy at noon."""
    return QUIET + (BUSY - QUIET) * (1 - sin(pi / 2 + 2 * pi * minute / MINUTES)) / 2


def day(**policy: int) -> tuple[list[float], list[int], Scaled]:
    scaled = Scaled()
    scaled.register(10, 400)
    scaled.track(70, **policy)
    consumed = [traffic(minute) for minute in range(MINUTES)]
    return consumed, scaled.pass_minutes(consumed), scaled


def test_the_capacity_follows_the_traffic_of_a_day() -> None:
    consumed, provisioned, scaled = day()
    assert 297 <= max(provisioned) <= 300  # 210 units are 70 % of 300
    peak = provisioned.index(max(provisioned))
    assert 11 * 60 < peak <= 12 * 60
    assert provisioned == [*sorted(provisioned[: peak + 1]), *sorted(provisioned[peak + 1 :], reverse=True)]
    # Once it had begun nobody was throttled, and most of the time the target was kept within its alarms.
    assert all(used <= units for used, units in zip(consumed[3:], provisioned[2:], strict=False))
    kept = [0.4 < used / units < 0.75 for used, units in zip(consumed, provisioned, strict=True)]
    assert sum(kept) > 0.9 * MINUTES
    assert scaled.engine.problems() == []


def test_a_day_has_as_many_decreases_as_it_allows() -> None:
    _, _, scaled = day()
    falls = [activity for activity in scaled.activities_of_all_pages() if "AlarmLow" in activity["Cause"]]
    made = [activity["StartTime"] for activity in reversed(falls) if activity["StatusCode"] == "Successful"]
    assert len(made) > DECREASES_PER_DAY_FREE
    later = made[DECREASES_PER_DAY_FREE - 1 :]
    assert all(second - first >= HOUR for first, second in pairwise(later))


def test_a_long_cooldown_makes_fewer_and_larger_steps() -> None:
    _, eager, _ = day()
    _, slow, _ = day(ScaleOutCooldown=90 * MINUTE)

    def steps(capacities: list[int]) -> int:
        return sum(1 for before, after in pairwise(capacities) if after > before)

    assert steps(slow) < steps(eager) / 3
    assert max(slow) >= 290
