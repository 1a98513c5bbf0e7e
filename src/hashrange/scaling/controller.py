"""The arithmetic of target tracking: from what was consumed to the capacity that there should be.

A policy for 70 % scales out when more than 70 % of the capacity was consumed in each of the last two minutes, and in
when less than 50 % was in each of the last fifteen. These are the two alarms that the service makes for a policy. The
new capacity is the one of which the consumption is exactly the target: of the last minute on the way up, and of the
busiest of the fifteen on the way down, so that none of the minutes that led to it would have led back.

Everything here is a function of its arguments: the same minutes lead to the same capacity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hashrange.limits import CAPACITY_UNITS_BOUND
from hashrange.scaling.target import MINUTE_MICROS, Policy, ScalableTarget

OUT_MINUTES = 2
IN_MINUTES = 15
SECONDS_PER_MINUTE = 60
IN_POINTS_BELOW = 20  # scaling in begins so far below the target
ALARM_HIGH = "AlarmHigh"
ALARM_LOW = "AlarmLow"


@dataclass(frozen=True, slots=True)
class Wish:
    """A capacity that the policy asks for, and the alarm that made it ask."""

    units: int
    alarm: str


def low_percent(target_percent: float) -> float:
    """The utilization below which a policy scales in. A target that is low itself leaves no room for twenty points."""
    return max(target_percent - IN_POINTS_BELOW, target_percent / 2)


def threshold(percent: float, provisioned: int) -> float:
    """So much of the capacity, as units consumed in a minute."""
    return percent / 100 * provisioned * SECONDS_PER_MINUTE


def wish(
    target: ScalableTarget, policy: Policy, consumed: Sequence[float], provisioned: int, now_micros: int
) -> Wish | None:
    """What the policy asks for now, given the units consumed in each of the last minutes, the latest last."""
    complete = now_micros // MINUTE_MICROS - -(-policy.since_micros // MINUTE_MICROS)
    counted = list(consumed)[-complete:] if complete > 0 else []
    return _out(target, policy, counted, provisioned, now_micros) or _in(
        target, policy, counted, provisioned, now_micros
    )


def _out(
    target: ScalableTarget, policy: Policy, consumed: list[float], provisioned: int, now_micros: int
) -> Wish | None:
    limit = threshold(policy.target_percent, provisioned)
    recent = consumed[-OUT_MINUTES:]
    if target.suspended.scaling_out or len(recent) < OUT_MINUTES or min(recent) <= limit:
        return None
    units = target.clamped(fitting(recent[-1], policy))
    if units <= provisioned or _is_cooling_out(target, policy, units - provisioned, now_micros):
        return None
    return Wish(units, ALARM_HIGH)


def _in(
    target: ScalableTarget, policy: Policy, consumed: list[float], provisioned: int, now_micros: int
) -> Wish | None:
    limit = threshold(low_percent(policy.target_percent), provisioned)
    recent = consumed[-IN_MINUTES:]
    if policy.disable_scale_in or target.suspended.scaling_in or len(recent) < IN_MINUTES or max(recent) >= limit:
        return None
    units = target.clamped(fitting(max(recent), policy))
    if units >= provisioned or _is_cooling_in(target, policy, now_micros):
        return None
    return Wish(units, ALARM_LOW)


def fitting(consumed_per_minute: float, policy: Policy) -> int:
    """The capacity of which so much consumption is the target."""
    units = consumed_per_minute / SECONDS_PER_MINUTE / (policy.target_percent / 100)
    return math.ceil(round(min(units, CAPACITY_UNITS_BOUND), 9))


def _is_cooling_out(target: ScalableTarget, policy: Policy, units: int, now_micros: int) -> bool:
    """After scaling out, only a larger step follows before the cool-down is over."""
    last = target.movement
    if last is None or last.units < 0 or units > last.units:
        return False
    return now_micros - last.at_micros < (policy.scale_out_cooldown_seconds or 0) * 1_000_000


def _is_cooling_in(target: ScalableTarget, policy: Policy, now_micros: int) -> bool:
    """After scaling in, nothing is taken away before the cool-down is over; scaling out meanwhile ends it."""
    last = target.movement
    if last is None or last.units > 0:
        return False
    return now_micros - last.at_micros < (policy.scale_in_cooldown_seconds or 0) * 1_000_000
