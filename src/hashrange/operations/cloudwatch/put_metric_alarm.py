"""PutMetricAlarm: make an alarm, or give one other settings. One that exists keeps its state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hashrange.engine.database import Database
from hashrange.errors import LimitExceededFault, ValidationException
from hashrange.metrics import alarms
from hashrange.metrics.alarms import BREACHING, IGNORE, MISSING, NOT_BREACHING, Alarm
from hashrange.metrics.evaluation import COMPARISONS
from hashrange.metrics.questions import Question
from hashrange.metrics.reading import SECONDS_PER_DAY, Ask, is_statistic
from hashrange.operations.cloudwatch.queries import check_period, dimensions_of, questions_of
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot

QUERIES_MAX = 20  # "up to 20 structures in the Metrics array" (API reference)
ALARMS_MAX = 5_000  # in each region ("CloudWatch service quotas")
UNSUPPORTED = ("ThresholdMetricId", "EvaluationCriteria", "WarmUpConfiguration", "EvaluationInterval")
SHORT_PERIODS = (10, 20, 30)  # those that alarms may have (API reference)
PLAIN = ("MetricName", "Namespace", "Period", "Statistic", "ExtendedStatistic", "Dimensions", "Unit")


def put_metric_alarm(db: Database, request: Request) -> Write:
    wanted = alarm_of(request, db.clock.micros())

    def plan(snapshot: Snapshot) -> Plan:
        old = alarms.find(snapshot, request.scope, wanted.name)
        if old is None and alarms.count(snapshot, request.scope, ALARMS_MAX) >= ALARMS_MAX:
            raise LimitExceededFault(f"There are already {ALARMS_MAX} alarms.")
        new = wanted if old is None else with_state_of(wanted, old)
        event = alarms.configured(snapshot, request.scope, old, new, new.updated_at_micros)
        return Plan([alarms.save(request.scope, new), *event])

    return Write(plan)


def with_state_of(alarm: Alarm, old: Alarm) -> Alarm:
    return replace(
        alarm,
        tags=old.tags,
        state=old.state,
        reason=old.reason,
        reason_data=old.reason_data,
        state_updated_at_micros=old.state_updated_at_micros,
        state_transitioned_at_micros=old.state_transitioned_at_micros,
    )


def alarm_of(request: Request, now_micros: int) -> Alarm:
    for name in UNSUPPORTED:
        if name in request:
            raise ValidationException(f"{name} is not supported by this server")
    for name in ("ComparisonOperator", "EvaluationPeriods", "Threshold"):
        if name not in request:
            raise ValidationException(f"The parameter {name} is required.")
    if not request["AlarmName"].isprintable():
        raise ValidationException("The value for parameter AlarmName contains control characters.")
    comparison = request["ComparisonOperator"]
    if comparison not in COMPARISONS:
        raise ValidationException(f"The ComparisonOperator {comparison} needs an anomaly detection band.")
    questions = questions_for(request)
    alarm = Alarm(
        name=request["AlarmName"],
        questions=tuple(questions),
        threshold=float(request["Threshold"]),
        comparison=comparison,
        evaluation_periods=request["EvaluationPeriods"],
        datapoints_to_alarm=request.get("DatapointsToAlarm"),
        missing_data=request.get("TreatMissingData"),
        is_plain="Metrics" not in request,
        description=request.get("AlarmDescription"),
        actions_enabled=request.get("ActionsEnabled", True),
        ok_actions=tuple(request.get("OKActions", ())),
        alarm_actions=tuple(request.get("AlarmActions", ())),
        insufficient_data_actions=tuple(request.get("InsufficientDataActions", ())),
        low_sample_count=request.get("EvaluateLowSampleCountPercentile"),
        tags={tag["Key"]: tag["Value"] for tag in request.get("Tags", ())},
        updated_at_micros=now_micros,
        state_updated_at_micros=now_micros,
        state_transitioned_at_micros=now_micros,
    )
    check(alarm)
    return alarm


def questions_for(request: Request) -> Sequence[Question]:
    if "Metrics" in request:
        mixed = next((name for name in PLAIN if name in request), None)
        if mixed is not None:
            raise ValidationException(f"The parameters Metrics and {mixed} are mutually exclusive.")
        if len(request["Metrics"]) > QUERIES_MAX:
            raise ValidationException(f"The collection Metrics must not have a size greater than {QUERIES_MAX}.")
        questions = questions_of(request["Metrics"], "Metrics")
        if sum(question.returned for question in questions) != 1:
            raise ValidationException("Exactly one element of the metrics list should return data.")
        return questions
    for name in ("MetricName", "Namespace", "Period"):
        if name not in request:
            raise ValidationException(f"The parameter {name} is required.")
    return (Question("m1", ask_of(request)),)


def ask_of(request: Request) -> Ask:
    plain, extended = request.get("Statistic"), request.get("ExtendedStatistic")
    if (plain is None) == (extended is None):
        raise ValidationException("Exactly one of Statistic and ExtendedStatistic must be specified.")
    statistic: str = plain or extended or ""
    if not is_statistic(statistic):
        raise ValidationException(f"The value {statistic} for parameter ExtendedStatistic is not supported.")
    check_period(request["Period"], "Period", SHORT_PERIODS)
    dimensions: dict[str, Any] = dimensions_of(request.get("Dimensions", ()))
    return Ask(
        request["MetricName"], dimensions, request["Period"], statistic, request["Namespace"], request.get("Unit")
    )


def check(alarm: Alarm) -> None:
    if alarm.missing_data_treatment not in (MISSING, IGNORE, BREACHING, NOT_BREACHING):
        raise ValidationException(f"The value {alarm.missing_data} is unsupported for TreatMissingData")
    if alarm.datapoints_to_alarm is not None and alarm.datapoints_to_alarm > alarm.evaluation_periods:
        raise ValidationException("The parameter DatapointsToAlarm must be less than or equal to EvaluationPeriods")
    longest = 7 * SECONDS_PER_DAY if alarm.period_seconds >= 3600 else SECONDS_PER_DAY
    if alarm.evaluation_periods * alarm.period_seconds > longest:
        raise ValidationException(
            "Metrics cannot be checked across more than a day (EvaluationPeriods * Period must be <= 86400)."
            if longest == SECONDS_PER_DAY
            else "Metrics cannot be checked across more than seven days (EvaluationPeriods * Period must be <= 604800)."
        )


OPERATION = Operation(name="PutMetricAlarm", run=put_metric_alarm, service="cloudwatch")
