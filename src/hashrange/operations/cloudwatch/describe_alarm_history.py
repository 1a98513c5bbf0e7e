"""DescribeAlarmHistory: what happened to alarms, the latest first unless asked otherwise."""

from __future__ import annotations

from typing import Any

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.parts import Parts
from hashrange.metrics.alarms import Event
from hashrange.operations.cloudwatch.alarm_description import MICROS
from hashrange.operations.cloudwatch.next_token import position_of, token_of
from hashrange.operations.operation import LongRead, Operation, Request, in_parts
from hashrange.values.ordered import after

EVENTS_PER_PAGE = 100
EVENTS_PER_PART = 200


def describe_alarm_history(db: Database, request: Request) -> LongRead:
    return in_parts(db, history(request))


def history(request: Request) -> Parts[dict[str, Any]]:
    start = position_of(request["NextToken"], (int,))[0] if "NextToken" in request else 0
    limit = request.get("MaxRecords", EVENTS_PER_PAGE)
    end = max(start, 0) + limit
    scope, name = request.scope, request.get("AlarmName")
    prefix = keyspace.ALARM_EVENT + scope.prefix if name is None else keyspace.alarm_event_prefix(scope.prefix, name)
    latest_first = request.get("ScanBy") != "TimestampAscending"
    found: list[Event] = []
    position = prefix
    while True:
        snapshot = yield
        part = list(snapshot.scan(position, after(prefix), limit=EVENTS_PER_PART))
        found += [event for _, stored in part if matches(request, event := Event.load(stored))]
        if len(found) > end + EVENTS_PER_PART or len(part) < EVENTS_PER_PART:
            found = first_of(found, end + 1, latest_first=latest_first)  # what is on later pages is not kept
        if len(part) < EVENTS_PER_PART:
            break
        position = part[-1][0] + b"\0"
    answer: dict[str, Any] = {"AlarmHistoryItems": [described(event) for event in found[end - limit : end]]}
    return answer if len(found) <= end else {**answer, "NextToken": token_of(end)}


def first_of(events: list[Event], number: int, *, latest_first: bool) -> list[Event]:
    return sorted(events, key=lambda event: event.at_micros, reverse=latest_first)[:number]


def matches(request: Request, event: Event) -> bool:
    at = event.at_micros / MICROS
    kind = request.get("HistoryItemType")
    return kind in (None, event.kind) and request.get("StartDate", at) <= at <= request.get("EndDate", at)


def described(event: Event) -> dict[str, Any]:
    return {
        "AlarmName": event.alarm,
        "AlarmType": "MetricAlarm",
        "Timestamp": event.at_micros / MICROS,
        "HistoryItemType": event.kind,
        "HistorySummary": event.summary,
        "HistoryData": event.data,
    }


OPERATION = Operation(name="DescribeAlarmHistory", run=describe_alarm_history, service="cloudwatch")
