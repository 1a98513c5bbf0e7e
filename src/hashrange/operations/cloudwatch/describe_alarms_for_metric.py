"""DescribeAlarmsForMetric: the alarms on one metric."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.metrics import alarms
from hashrange.metrics.alarms import Alarm
from hashrange.operations.cloudwatch.alarm_description import described
from hashrange.operations.cloudwatch.queries import dimensions_of
from hashrange.operations.operation import Operation, Request


def describe_alarms_for_metric(db: Database, request: Request) -> dict[str, Any]:
    with db.read() as snapshot:
        found = [
            described(request.scope, alarm)
            for alarm in alarms.alarms_of(snapshot, request.scope)
            if is_about(alarm, request)
        ]
    return {"MetricAlarms": found}


def is_about(alarm: Alarm, request: Request) -> bool:
    wanted = request["Namespace"], request["MetricName"], dimensions_of(request.get("Dimensions", ()))
    statistic = request.get("Statistic", request.get("ExtendedStatistic"))
    period, unit = request.get("Period"), request.get("Unit")
    return any(
        (ask.namespace, ask.metric, dict(ask.dimensions)) == wanted
        and statistic in (None, ask.statistic)
        and period in (None, ask.period_seconds)
        and unit in (None, ask.unit)
        for question in alarm.questions
        if (ask := question.ask) is not None
    )


OPERATION = Operation(name="DescribeAlarmsForMetric", run=describe_alarms_for_metric, service="cloudwatch")
