"""An alarm as DescribeAlarms tells it."""

from __future__ import annotations

from typing import Any

from hashrange.engine.scope import Scope
from hashrange.metrics.alarms import Alarm
from hashrange.metrics.questions import Question
from hashrange.metrics.reading import STATISTICS, Ask
from hashrange.operations.cloudwatch.queries import dimension_list

MICROS = 1_000_000


def described(scope: Scope, alarm: Alarm) -> dict[str, Any]:
    answer = {
        "AlarmName": alarm.name,
        "AlarmArn": alarm.arn(scope),
        "AlarmDescription": alarm.description,
        "AlarmConfigurationUpdatedTimestamp": alarm.updated_at_micros / MICROS,
        "ActionsEnabled": alarm.actions_enabled,
        "OKActions": list(alarm.ok_actions),
        "AlarmActions": list(alarm.alarm_actions),
        "InsufficientDataActions": list(alarm.insufficient_data_actions),
        "StateValue": alarm.state,
        "StateReason": alarm.reason,
        "StateReasonData": alarm.reason_data,
        "StateUpdatedTimestamp": alarm.state_updated_at_micros / MICROS,
        "StateTransitionedTimestamp": alarm.state_transitioned_at_micros / MICROS,
        "EvaluationPeriods": alarm.evaluation_periods,
        "DatapointsToAlarm": alarm.datapoints_to_alarm,
        "Threshold": alarm.threshold,
        "ComparisonOperator": alarm.comparison,
        "TreatMissingData": alarm.missing_data,
        "EvaluateLowSampleCountPercentile": alarm.low_sample_count,
        **what_is_watched(alarm),
    }
    return {name: value for name, value in answer.items() if value is not None}


def what_is_watched(alarm: Alarm) -> dict[str, Any]:
    ask = alarm.line.ask
    if not alarm.is_plain or ask is None:
        return {"Metrics": [described_question(question) for question in alarm.questions]}
    statistic = "Statistic" if ask.statistic in STATISTICS else "ExtendedStatistic"
    return {**metric_of(ask), statistic: ask.statistic, "Period": ask.period_seconds, "Unit": ask.unit}


def metric_of(ask: Ask) -> dict[str, Any]:
    return {"Namespace": ask.namespace, "MetricName": ask.metric, "Dimensions": dimension_list(ask.dimensions)}


def described_question(question: Question) -> dict[str, Any]:
    ask = question.ask
    answer: dict[str, Any] = {"Id": question.id, "Label": question.label, "ReturnData": question.returned}
    if ask is None:
        answer.update(Expression=question.expression, Period=question.period_seconds)
    else:
        stat = {"Metric": metric_of(ask), "Period": ask.period_seconds, "Stat": ask.statistic, "Unit": ask.unit}
        answer["MetricStat"] = {name: value for name, value in stat.items() if value is not None}
    return {name: value for name, value in answer.items() if value is not None}
