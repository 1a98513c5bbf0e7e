"""DescribeAlarms: alarms by their names, the beginning of their names, or their states."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.parts import Parts
from hashrange.errors import ValidationException
from hashrange.metrics import alarms
from hashrange.metrics.alarms import Alarm
from hashrange.operations.cloudwatch.alarm_description import described
from hashrange.operations.cloudwatch.next_token import position_of, token_of
from hashrange.operations.operation import LongRead, Operation, Request, in_parts
from hashrange.storage.interface import Snapshot

ALARMS_PER_PAGE = 50  # API reference
ALARMS_PER_PART = 50
METRIC_ALARM = "MetricAlarm"


def describe_alarms(db: Database, request: Request) -> LongRead:
    return in_parts(db, alarms_asked_for(request))


def alarms_asked_for(request: Request) -> Parts[dict[str, Any]]:
    if "AlarmNames" in request and "AlarmNamePrefix" in request:
        raise ValidationException("AlarmNamePrefix and AlarmNames cannot be used together.")
    after_name = position_of(request["NextToken"], (str,))[0] if "NextToken" in request else ""
    limit = request.get("MaxRecords", ALARMS_PER_PAGE)
    yield
    page: list[Alarm] = []
    while METRIC_ALARM in (request.get("AlarmTypes") or [METRIC_ALARM]):
        snapshot = yield
        part = list(islice(chosen(snapshot, request, after_name), ALARMS_PER_PART))
        for alarm in part:
            if matches(request, alarm):
                if len(page) == limit:
                    return answer_of(request, page, token_of(page[-1].name))
                page.append(alarm)
        if len(part) < ALARMS_PER_PART:
            break
        after_name = part[-1].name
    return answer_of(request, page, None)


def chosen(snapshot: Snapshot, request: Request, after_name: str) -> Iterator[Alarm]:
    if "AlarmNames" not in request:
        yield from alarms.alarms_of(snapshot, request.scope, request.get("AlarmNamePrefix", ""), after_name=after_name)
        return
    for name in sorted(set(request["AlarmNames"])):
        alarm = alarms.find(snapshot, request.scope, name) if name > after_name else None
        if alarm is not None:
            yield alarm


def matches(request: Request, alarm: Alarm) -> bool:
    state, action = request.get("StateValue"), request.get("ActionPrefix", "")
    actions = (*alarm.ok_actions, *alarm.alarm_actions, *alarm.insufficient_data_actions)
    return state in (None, alarm.state) and (not action or any(each.startswith(action) for each in actions))


def answer_of(request: Request, page: list[Alarm], token: str | None) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "MetricAlarms": [described(request.scope, alarm) for alarm in page],
        "CompositeAlarms": [],
    }
    return answer if token is None else {**answer, "NextToken": token}


OPERATION = Operation(name="DescribeAlarms", run=describe_alarms, service="cloudwatch")
