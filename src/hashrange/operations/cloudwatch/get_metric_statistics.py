"""GetMetricStatistics: several statistics of one metric."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.parts import Parts, handed_over
from hashrange.errors import (
    InvalidParameterCombinationException,
    InvalidParameterValueException,
    MissingRequiredParameterException,
)
from hashrange.metrics.reading import PERCENTILE, Ask, Window, is_period, read_periods, value_of
from hashrange.metrics.statistic import Statistic
from hashrange.metrics.units import unit_of
from hashrange.operations.cloudwatch.queries import dimensions_of
from hashrange.operations.operation import LongRead, Operation, Request, in_parts

DATAPOINTS_MAX = 1_440  # API reference


def get_metric_statistics(db: Database, request: Request) -> LongRead:
    return in_parts(db, statistics_of(db, request))


def statistics_of(db: Database, request: Request) -> Parts[dict[str, Any]]:
    plain, extended = request.get("Statistics", []), request.get("ExtendedStatistics", [])
    check(request, plain, extended)
    ask = Ask(
        request["MetricName"],
        dimensions_of(request.get("Dimensions", ())),
        request["Period"],
        namespace=request["Namespace"],
        unit=request.get("Unit"),
    )
    window = Window(request["StartTime"], request["EndTime"], db.clock.seconds())
    yield
    yield from handed_over(db.recorder)
    unit = unit_of(ask.namespace, ask.metric, ask.unit)
    points: list[dict[str, Any]] = []

    def tell(start: int, statistic: Statistic) -> None:
        points.append(datapoint(start, statistic, plain, extended, unit))

    yield from read_periods(request.scope, ask, window, tell)
    return {"Label": ask.metric, "Datapoints": points}


def datapoint(start: int, statistic: Statistic, plain: list[str], extended: list[str], unit: str) -> dict[str, Any]:
    point: dict[str, Any] = {"Timestamp": start, **{name: value_of(statistic, name) for name in plain}}
    if extended:
        known = {name: value_of(statistic, name) for name in extended}
        point["ExtendedStatistics"] = {name: value for name, value in known.items() if value is not None}
    return {**point, "Unit": unit}


def check(request: Request, plain: list[str], extended: list[str]) -> None:
    if not plain and not extended:
        raise MissingRequiredParameterException("Must specify either Statistics or ExtendedStatistics")
    if plain and extended:
        raise InvalidParameterCombinationException("Statistics and ExtendedStatistics cannot be used together")
    wrong = next((name for name in extended if PERCENTILE.fullmatch(name) is None), None)
    if wrong is not None:
        raise InvalidParameterValueException(f"The value {wrong} for parameter ExtendedStatistics is not supported.")
    start, end, period = request["StartTime"], request["EndTime"], request["Period"]
    if not is_period(period):
        raise InvalidParameterValueException("The parameter Period must be 1, 5, 10, 20, 30 or a multiple of 60.")
    if start >= end:
        raise InvalidParameterValueException("The parameter StartTime must be less than the parameter EndTime.")
    wanted = -(-(end - start) // period)
    if wanted > DATAPOINTS_MAX:
        raise InvalidParameterCombinationException(
            f"You have requested up to {int(wanted):,} datapoints, which exceeds the limit of {DATAPOINTS_MAX:,}. "
            "You may reduce the datapoints requested by increasing Period, or decreasing the time range."
        )


OPERATION = Operation(name="GetMetricStatistics", run=get_metric_statistics, service="cloudwatch")
