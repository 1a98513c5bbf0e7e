"""GetInsightRuleReport: the keys that a rule of Contributor Insights counted most, with their share in each period."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.parts import Parts
from hashrange.errors import InvalidParameterValueException, ResourceNotFoundException
from hashrange.insights.report import Contributor, Report, report_in_parts
from hashrange.insights.rules import Resource, Rule
from hashrange.insights.window import MINUTE_MICROS, Window
from hashrange.operations.cloudwatch.insight_rules import aggregate_of, insight_rules
from hashrange.operations.operation import LongRead, Operation, Request, in_parts
from hashrange.storage.interface import Snapshot

CONTRIBUTORS = 10
CONTRIBUTORS_MAX = 100
ORDERS = ("Sum", "Maximum")
SECONDS_PER_MINUTE = 60

METRICS: dict[str, Callable[[Window], float]] = {
    "UniqueContributors": lambda window: float(len(window.keys.counts)),
    "MaxContributorValue": lambda window: max(window.keys.counts.values(), default=0.0),
    "SampleCount": lambda window: float(window.observations),
    "Sum": lambda window: window.keys.total,
    "Minimum": lambda window: window.minimum,
    "Maximum": lambda window: window.maximum,
    "Average": lambda window: window.keys.total / window.observations,
}


def get_insight_rule_report(db: Database, request: Request) -> LongRead:
    check(request)
    return in_parts(db, report_of(db, request))


def report_of(db: Database, request: Request) -> Parts[dict[str, Any]]:
    snapshot = yield
    resource, rule = find_rule(db, snapshot, request)
    found = yield from report_in_parts(
        resource,
        rule,
        first_minute=max(int(request["StartTime"] // SECONDS_PER_MINUTE), made_at_minute(resource)),
        end_minute=-int(-min(request["EndTime"], db.clock.seconds() + SECONDS_PER_MINUTE) // SECONDS_PER_MINUTE),
        period_minutes=request["Period"] // SECONDS_PER_MINUTE,
        contributors_max=request.get("MaxContributorCount", CONTRIBUTORS),
        by_sum=request.get("OrderBy", ORDERS[0]) == ORDERS[0],
    )
    return (yield from answer(found, rule, request.get("Metrics", [])))


def check(request: Request) -> None:
    if not (isfinite(request["StartTime"]) and isfinite(request["EndTime"])):
        raise InvalidParameterValueException("The parameters StartTime and EndTime must be times.")
    if request["StartTime"] >= request["EndTime"]:
        raise InvalidParameterValueException("The parameter StartTime must be less than the parameter EndTime.")
    if request["Period"] % SECONDS_PER_MINUTE:
        raise InvalidParameterValueException("The parameter Period must be a multiple of 60.")
    if not 1 <= request.get("MaxContributorCount", CONTRIBUTORS) <= CONTRIBUTORS_MAX:
        raise InvalidParameterValueException("The parameter MaxContributorCount must be between 1 and 100.")
    unknown = [name for name in request.get("Metrics", []) if name not in METRICS]
    if unknown:
        raise InvalidParameterValueException(f"The value {unknown[0]} for parameter Metrics is not supported.")
    if request.get("OrderBy", ORDERS[0]) not in ORDERS:
        raise InvalidParameterValueException(f"The value {request['OrderBy']} for parameter OrderBy is not supported.")


def find_rule(db: Database, snapshot: Snapshot, request: Request) -> tuple[Resource, Rule]:
    wanted = request["RuleName"]
    for name, resource, rule in insight_rules(db, snapshot, request.scope):
        if name == wanted:
            return resource, rule
    raise ResourceNotFoundException(f"Insight rule {wanted} does not exist.")


def made_at_minute(resource: Resource) -> int:
    """A rule knows nothing of what an earlier one for the same keys has counted."""
    assert resource.insights is not None
    return resource.insights.updated_at_micros // MINUTE_MICROS


def answer(found: Report, rule: Rule, metrics: list[str]) -> Parts[dict[str, Any]]:
    contributors = []
    for each in found.contributors:
        yield
        contributors.append(described(each))
    members: dict[str, Any] = {
        "KeyLabels": list(found.labels),
        "AggregationStatistic": aggregate_of(rule).upper(),
        "AggregateValue": found.total,
        "ApproximateUniqueCount": found.known_keys,
        "Contributors": contributors,
    }
    if metrics:
        members["MetricDatapoints"] = points = []
        for minute, window in found.periods:
            yield
            points.append(datapoint(minute, window, metrics))
    return members


def described(contributor: Contributor) -> dict[str, Any]:
    return {
        "Keys": list(contributor.key),
        "ApproximateAggregateValue": contributor.weight,
        "Datapoints": [
            {"Timestamp": minute * SECONDS_PER_MINUTE, "ApproximateValue": weight}
            for minute, weight in contributor.periods
        ],
    }


def datapoint(minute: int, window: Window, metrics: list[str]) -> dict[str, float]:
    return {"Timestamp": minute * SECONDS_PER_MINUTE, **{name: METRICS[name](window) for name in metrics}}


OPERATION = Operation(name="GetInsightRuleReport", run=get_insight_rule_report, service="cloudwatch")
