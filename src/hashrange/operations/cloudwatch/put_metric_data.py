"""PutMetricData: values of metrics of one's own."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from hashrange.engine.database import Database
from hashrange.errors import (
    InvalidParameterCombinationException,
    InvalidParameterValueException,
    MissingRequiredParameterException,
)
from hashrange.metrics.points import Measured, Place, minute_of
from hashrange.metrics.statistic import Statistic
from hashrange.operations.cloudwatch.queries import dimensions_of
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot

DATA_MAX = 1_000  # "up to 1000 different metrics in a single request" (API reference)
VALUES_MAX = 150  # "the Values and Counts arrays can have up to 150"
PAST_SECONDS = 14 * 86_400
FUTURE_SECONDS = 2 * 3600
VALUE_MAX = 2.0**360
PRINTABLE = re.compile(r"[ -~]+")


def put_metric_data(db: Database, request: Request) -> Write:
    namespace = request["Namespace"]
    if namespace.startswith("AWS/"):
        raise InvalidParameterValueException("The value AWS/ for parameter Namespace is invalid.")
    if PRINTABLE.fullmatch(namespace) is None:
        raise InvalidParameterValueException("The value for parameter Namespace contains non-ASCII characters.")
    data = request.get("MetricData", [])
    if not data:
        raise MissingRequiredParameterException("The parameter MetricData is required.")
    if len(data) > DATA_MAX:
        raise InvalidParameterValueException(f"The collection MetricData must not have a size greater than {DATA_MAX}.")
    now = db.clock.seconds()
    measured = Measured()
    for number, datum in enumerate(data, start=1):
        place = f"MetricData.member.{number}"
        at = datum.get("Timestamp", now)
        if not now - PAST_SECONDS <= at <= now + FUTURE_SECONDS:
            raise InvalidParameterValueException(
                f"The parameter {place}.Timestamp must specify a time no more than two weeks in the past and two hours "
                "in the future."
            )
        where = Place.of(namespace, datum["MetricName"], dimensions_of(datum.get("Dimensions", ())))
        for statistic in statistics_of(datum, place):
            measured.add(request.scope, namespace, where.group, minute_of(at), where.name, statistic)

    def plan(snapshot: Snapshot) -> Plan:
        return measured.plan(snapshot)

    return Write(plan)


def statistics_of(datum: Mapping[str, Any], place: str) -> list[Statistic]:
    given = [name for name in ("Value", "Values", "StatisticValues") if name in datum]
    if not given:
        raise MissingRequiredParameterException(
            f"One of the parameters {place}.Value, {place}.Values and {place}.StatisticValues must be specified."
        )
    if len(given) > 1:
        raise InvalidParameterCombinationException(
            f"The parameters {place}.{given[0]} and {place}.{given[1]} are mutually exclusive and you have specified "
            "both."
        )
    if given == ["Value"]:
        return [Statistic.repeated(checked(datum["Value"], f"{place}.Value"), 1)]
    if given == ["Values"]:
        return counted(datum, place)
    known = {
        name: checked(value, f"{place}.StatisticValues.{name}") for name, value in datum["StatisticValues"].items()
    }
    return [Statistic(known["SampleCount"], known["Sum"], known["Minimum"], known["Maximum"])]


def counted(datum: Mapping[str, Any], place: str) -> list[Statistic]:
    values = datum["Values"]
    counts = datum.get("Counts", [1.0] * len(values))
    if len(values) != len(counts):
        raise InvalidParameterValueException(
            f"The parameters {place}.Values and {place}.Counts must be of the same size."
        )
    if len(values) > VALUES_MAX:
        raise InvalidParameterValueException(
            f"The collection {place}.Values must not have a size greater than {VALUES_MAX}."
        )
    pairs = zip(values, counts, strict=True)
    return [
        Statistic.repeated(checked(value, f"{place}.Values"), checked(count, f"{place}.Counts"))
        for value, count in pairs
        if count > 0
    ]


def checked(value: float, place: str) -> float:
    if not math.isfinite(value) or abs(value) > VALUE_MAX:
        raise InvalidParameterValueException(f"The value {value} for parameter {place} is invalid.")
    return float(value)


OPERATION = Operation(name="PutMetricData", run=put_metric_data, service="cloudwatch")
