"""Decides what state an alarm is in, from the latest periods that are over.

CloudWatch looks at somewhat more periods than the alarm has, so that a gap or two can be bridged by older values; only
what is then still missing is treated as the alarm says. All of this is in "Configuring how CloudWatch alarms treat
missing data": the tables under "How alarm state is evaluated when data is missing", and "Avoiding premature transitions
to alarm state".
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import orjson

from hashrange.engine.parts import whole
from hashrange.engine.scope import Scope
from hashrange.metrics.alarms import ALARM, BREACHING, IGNORE, INSUFFICIENT_DATA, NOT_BREACHING, OK, Alarm
from hashrange.metrics.expression import ExpressionError
from hashrange.metrics.questions import Answers
from hashrange.metrics.reading import SECONDS_PER_MINUTE, Window
from hashrange.storage.interface import Snapshot

PERIODS_MORE = 2  # that are looked at besides those of the alarm

COMPARISONS: dict[str, tuple[Callable[[float, float], bool], str]] = {
    "GreaterThanOrEqualToThreshold": (operator.ge, "greater than or equal to"),
    "GreaterThanThreshold": (operator.gt, "greater than"),
    "LessThanThreshold": (operator.lt, "less than"),
    "LessThanOrEqualToThreshold": (operator.le, "less than or equal to"),
}

Point = tuple[int, float]


def evaluated(snapshot: Snapshot, scope: Scope, alarm: Alarm, now_seconds: float) -> Alarm:
    """The alarm in the state in which it is now; the same object if that has not changed."""
    period = max(alarm.period_seconds, SECONDS_PER_MINUTE)
    end = int(now_seconds) // period * period
    points = latest_points(snapshot, scope, alarm, end, now_seconds)
    breaches = COMPARISONS[alarm.comparison][0]
    state = state_of(alarm, [((end - at) // period, breaches(value, alarm.threshold)) for at, value in points])
    if state is None or state == alarm.state:
        return alarm
    now_micros = int(now_seconds * 1_000_000)
    return alarm.in_state(state, reason(alarm, state, points), reason_data(alarm, points, now_seconds), now_micros)


def latest_points(snapshot: Snapshot, scope: Scope, alarm: Alarm, end_seconds: int, now_seconds: float) -> list[Point]:
    """The values that count, the latest first."""
    period, end = max(alarm.period_seconds, SECONDS_PER_MINUTE), end_seconds
    window = Window(end - (alarm.evaluation_periods + PERIODS_MORE) * period, end, now_seconds)
    try:
        lines = whole(Answers(scope, alarm.questions, window).lines(alarm.line), snapshot)
    except ExpressionError:
        return []
    line = lines[0] if lines else {}
    return sorted(line.items(), reverse=True)[: alarm.evaluation_periods]


def state_of(alarm: Alarm, known: Sequence[tuple[int, bool]]) -> str | None:
    """The state that the known values lead to; None: the one it is in. Of each value, the latest first, is given how
    many periods ago its period began, and whether it breaches the threshold."""
    needed = alarm.datapoints_to_alarm or alarm.evaluation_periods
    missing = alarm.evaluation_periods - len(known)
    treatment = alarm.missing_data_treatment
    count = sum(breaching for _, breaching in known)
    if missing and treatment == BREACHING:
        return ALARM if count + missing >= needed else OK
    if not missing or treatment == NOT_BREACHING or count >= needed:
        return ALARM if count >= needed else OK
    if not known:
        return None if treatment == IGNORE else INSUFFICIENT_DATA
    if count < len(known):
        return OK
    # Too few values, all of them bad. The next may be good, so the alarm waits until the oldest is old enough.
    oldest = known[-1][0]
    return None if treatment == IGNORE or oldest < needed else ALARM


def reason(alarm: Alarm, state: str, points: Sequence[Point]) -> str:
    """Why, in the words of the service."""
    total = alarm.evaluation_periods
    if not points:
        were = "datapoint was" if total == 1 else "datapoints were"
        if state == INSUFFICIENT_DATA:
            return f"Insufficient Data: {total} {were} unknown."
        treated = "Breaching" if state == ALARM else "NonBreaching"
        missing = "missing datapoint was" if total == 1 else "missing datapoints were"
        periods = f"{total} period{'s' * (total != 1)}"
        received = f"no datapoints were received for {periods}"
        return f"Threshold Crossed: {received} and {total} {missing} treated as [{treated}]."
    breaches, words = COMPARISONS[alarm.comparison]
    shown = [(at, value) for at, value in points if breaches(value, alarm.threshold) == (state == ALARM)]
    listed = ", ".join(f"{value} ({datetime.fromtimestamp(at, UTC):%d/%m/%y %H:%M:%S})" for at, value in shown)
    was = ("was" if len(shown) == 1 else "were") + ("" if state == ALARM else " not")
    needed = alarm.datapoints_to_alarm or total
    minimum = needed if state == ALARM else total - needed + 1
    return (
        f"Threshold Crossed: {len(shown)} out of the last {total} datapoints [{listed}] {was} {words} the threshold "
        f"({alarm.threshold}) (minimum {minimum} datapoint{'s' * (minimum != 1)} for {alarm.state} -> {state} "
        "transition)."
    )[:1023]


def reason_data(alarm: Alarm, points: Sequence[Point], now_seconds: float) -> str:
    at = datetime.fromtimestamp(now_seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000")
    ask = alarm.line.ask
    content = {
        "version": "1.0",
        "queryDate": at,
        **({} if ask is None else {"statistic": ask.statistic}),
        "period": alarm.period_seconds,
        "recentDatapoints": [value for _, value in reversed(points)][-50:],
        "threshold": alarm.threshold,
    }
    return orjson.dumps(content).decode()
