"""ListMetrics: which metrics have values, in pages of five hundred."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import groupby, islice
from typing import Any

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.parts import Parts, handed_over
from hashrange.engine.scope import Scope
from hashrange.metrics import provisioned
from hashrange.metrics.points import DYNAMODB, HOUR, TOTAL, dimensions_of, groups_from, scan
from hashrange.metrics.provisioned import CHANGED
from hashrange.operations.cloudwatch.next_token import position_of, token_of
from hashrange.operations.cloudwatch.queries import dimension_list
from hashrange.operations.operation import LongRead, Operation, Request, in_parts
from hashrange.storage.interface import Snapshot
from hashrange.values.ordered import after

METRICS_PER_PAGE = 500  # API reference
GROUPS_PER_PART = 50
HOURS_ACTIVE = 3  # what PT3H means

Metric = tuple[str, str, str, dict[str, str]]
"""Namespace, group, name and dimensions."""


def list_metrics(db: Database, request: Request) -> LongRead:
    return in_parts(db, listed(db, request))


def listed(db: Database, request: Request) -> Parts[dict[str, Any]]:
    position = position_of(request["NextToken"], (str, str, str)) if "NextToken" in request else ["", "", ""]
    recent = int(db.clock.seconds()) // 3600 if "RecentlyActive" in request else None
    yield
    yield from handed_over(db.recorder)
    found: list[Metric] = []
    place, done = position[:2], False
    while True:
        snapshot = yield
        groups = list(islice(known_groups(snapshot, request.scope, place, request.get("Namespace")), GROUPS_PER_PART))
        for namespace, group in groups:
            if done and [namespace, group] == place:
                continue
            names = sorted(names_of(snapshot, request.scope, namespace, group, recent))
            behind = [name for name in names if [namespace, group, name] > position]
            found += [metric for metric in metrics_of(namespace, group, behind) if matches(request, metric)]
            if len(found) > METRICS_PER_PAGE:
                return page(found[:METRICS_PER_PAGE], more=True)
        if len(groups) < GROUPS_PER_PART:
            return page(found, more=False)
        place, done = list(groups[-1]), True


def page(metrics: list[Metric], *, more: bool) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "Metrics": [
            {"Namespace": namespace, "MetricName": name.partition("/")[0] if namespace == DYNAMODB else name,
             "Dimensions": dimension_list(dimensions)}
            for namespace, _, name, dimensions in metrics
        ]
    }  # fmt: skip
    return {**answer, "NextToken": token_of(*metrics[-1][:3])} if more else answer


def known_groups(snapshot: Snapshot, scope: Scope, place: list[str], only: str | None) -> Iterator[tuple[str, str]]:
    """The groups that something is known of, in order, from one on, namespace by namespace."""
    for namespace in namespaces(snapshot, scope):
        if only not in (None, namespace) or namespace < place[0]:
            continue
        start = place[1] if namespace == place[0] else ""
        measured = groups_from(snapshot, scope, namespace, TOTAL, start)
        noted = groups_from(snapshot, scope, namespace, CHANGED, start)  # only DynamoDB's are
        yield from ((namespace, group) for group, _ in groupby(merge(measured, noted)))


def namespaces(snapshot: Snapshot, scope: Scope) -> Iterator[str]:
    position = prefix = keyspace.METRIC + scope.prefix
    while (entry := next(snapshot.scan(position, after(prefix), limit=1), None)) is not None:
        namespace = keyspace.metric_parts_of(entry[0])[2]
        yield namespace
        position = after(prefix + namespace.encode() + b"\0")


def names_of(snapshot: Snapshot, scope: Scope, namespace: str, group: str, hour: int | None) -> set[str]:
    """The names in a group that have values, or that had some in the last hours."""
    span, start, end = (TOTAL, 0, 1) if hour is None else (HOUR, hour - HOURS_ACTIVE, hour + 1)
    records = scan(snapshot, scope, namespace, span, group, start, end)
    names = {name for _, record in records for name in record}
    if namespace != DYNAMODB:
        return names
    names.update(provisioned.latest_of(snapshot, scope, group))
    return {name for name in names if not name.startswith(".")}


def metrics_of(namespace: str, group: str, names: Iterable[str]) -> Iterator[Metric]:
    for name in names:
        yield namespace, group, name, dimensions_of(namespace, group, name)[1]


def matches(request: Request, metric: Metric) -> bool:
    namespace, _, name, dimensions = metric
    wanted = request.get("MetricName")
    plain = name.partition("/")[0] if namespace == DYNAMODB else name
    filters: Iterable[Mapping[str, str]] = request.get("Dimensions", ())
    return wanted in (None, plain) and all(
        each["Name"] in dimensions and each.get("Value", dimensions[each["Name"]]) == dimensions[each["Name"]]
        for each in filters
    )


OPERATION = Operation(name="ListMetrics", run=list_metrics, service="cloudwatch")
