"""DescribeAlarmHistory: what happened to alarms, the latest first unless asked otherwise."""

from __future__ import annotations

from typing import Any

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.scope import Scope
from hashrange.metrics.alarms import Event
from hashrange.operations.cloudwatch.alarm_description import MICROS
from hashrange.operations.cloudwatch.next_token import position_of, token_of
from hashrange.operations.operation import Operation, Request
from hashrange.storage.interface import Snapshot
from hashrange.values.ordered import after

EVENTS_PER_PAGE = 100


def describe_alarm_history(db: Database, request: Request) -> dict[str, Any]:
    start = position_of(request["NextToken"], (int,))[0] if "NextToken" in request else 0
    limit = request.get("MaxRecords", EVENTS_PER_PAGE)
    with db.read() as snapshot:
        found = [each for each in events(snapshot, request.scope, request.get("AlarmName")) if matches(request, each)]
    found.sort(key=lambda event: event.at_micros, reverse=request.get("ScanBy") != "TimestampAscending")
    answer: dict[str, Any] = {"AlarmHistoryItems": [described(event) for event in found[start : start + limit]]}
    return answer if len(found) <= start + limit else {**answer, "NextToken": token_of(start + limit)}


def events(snapshot: Snapshot, scope: Scope, name: str | None) -> list[Event]:
    prefix = keyspace.ALARM_EVENT + scope.prefix if name is None else keyspace.alarm_event_prefix(scope.prefix, name)
    return [Event.load(stored) for _, stored in snapshot.scan(prefix, after(prefix))]


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
