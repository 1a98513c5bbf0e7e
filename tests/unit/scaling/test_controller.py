"""The arithmetic of target tracking, for any traffic."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.scaling.controller import IN_MINUTES, fitting, low_percent, threshold, wish
from hashrange.scaling.registration import Tracking, bounded, new_target, tracked
from hashrange.scaling.resource import Resource
from hashrange.scaling.target import ScalableTarget
from unit.scaling.conftest import SCOPE

NOW = 1_800_000_010_000_000
LATER = NOW + 3600 * 1_000_000
MINUTES = st.lists(st.floats(0, 1e6), min_size=IN_MINUTES, max_size=IN_MINUTES)


def target(minimum: int, maximum: int, percent: float) -> ScalableTarget:
    fresh = new_target(SCOPE, Resource("orders", None, "Read"), NOW)
    return tracked(bounded(fresh, minimum, maximum), Tracking("policy", percent), NOW)


@pytest.mark.parametrize(("percent", "high", "low"), [(70, 42, 30), (50, 30, 18), (90, 54, 42), (20, 12, 6)])
def test_the_thresholds_of_one_unit(percent: float, high: float, low: float) -> None:
    assert (threshold(percent, 1), threshold(low_percent(percent), 1)) == (pytest.approx(high), pytest.approx(low))


def test_capacity_is_rounded_up_but_not_by_a_rounding_error() -> None:
    policy = target(1, 10, 70).policy
    assert policy is not None
    assert [fitting(units * 60, policy) for units in (7, 7.0001, 0, 0.1, 2.1)] == [10, 11, 0, 1, 3]


@given(consumed=MINUTES, provisioned=st.integers(1, 40_000), percent=st.floats(0.001, 1000))
def test_a_wish_is_within_the_bounds_and_in_the_direction_of_its_alarm(
    consumed: list[float], provisioned: int, percent: float
) -> None:
    scaled = target(5, 20_000, percent)
    assert scaled.policy is not None
    wanted = wish(scaled, scaled.policy, consumed, provisioned, LATER)
    if wanted is not None:
        assert 5 <= wanted.units <= 20_000
        assert (wanted.units > provisioned) == (wanted.alarm == "AlarmHigh")
        assert wanted.units != provisioned


@given(consumed=MINUTES, provisioned=st.integers(1, 40_000), percent=st.floats(20, 90))
def test_a_wish_that_came_true_is_the_last_one(consumed: list[float], provisioned: int, percent: float) -> None:
    scaled = target(1, 10**9, percent)
    assert scaled.policy is not None
    wanted = wish(scaled, scaled.policy, consumed, provisioned, LATER)
    if wanted is not None:
        assert wish(scaled, scaled.policy, consumed, wanted.units, LATER) is None


@given(consumed=MINUTES, provisioned=st.integers(1, 1000))
def test_minutes_from_before_the_policy_do_not_count(consumed: list[float], provisioned: int) -> None:
    scaled = target(1, 10**9, 70)
    assert scaled.policy is not None
    assert wish(scaled, scaled.policy, consumed, provisioned, NOW) is None
    assert wish(scaled, replace(scaled.policy, since_micros=LATER), consumed, provisioned, LATER) is None
