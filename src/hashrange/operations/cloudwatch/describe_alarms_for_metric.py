"""DescribeAlarmsForMetric: the alarms on one metric."""

from __future__ import annotations

from itertools import islice
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.parts import Parts
from hashrange.metrics import alarms
from hashrange.metrics.alarms import Alarm
from hashrange.operations.cloudwatch.alarm_description import described
from hashrange.operations.cloudwatch.describe_alarms import ALARMS_PER_PART
from hashrange.operations.cloudwatch.queries import dimensions_of
from hashrange.operations.operation import LongRead, Operation, Request, in_parts


def describe_alarms_for_metric(db: Database, request: Request) -> LongRead:
    return in_parts(db, alarms_on(request))


def alarms_on(request: Request) -> Parts[dict[str, Any]]:
    found: list[Alarm] = []
    after_name = ""
    while True:
        snapshot = yield
        part = list(islice(alarms.alarms_of(snapshot, request.scope, after_name=after_name), ALARMS_PER_PART))
        found += [alarm for alarm in part if is_about(alarm, request)]
        if len(part) < ALARMS_PER_PART:
            return {"MetricAlarms": [described(request.scope, alarm) for alarm in found]}
        after_name = part[-1].name


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
