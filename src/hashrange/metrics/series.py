"""Reading what was measured: the statistics of one metric, minute by minute or hour by hour."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from hashrange.engine.scope import Scope
from hashrange.metrics import provisioned
from hashrange.metrics.points import DYNAMODB, HOUR, MINUTE, MINUTES_PER_HOUR, Place, scan_stored
from hashrange.metrics.statistic import Statistic
from hashrange.storage.interface import Snapshot

Points = list[tuple[int, Statistic]]


def series(
    snapshot: Snapshot,
    scope: Scope,
    metric: str,
    dimensions: Mapping[str, str],
    start_minute: int,
    end_minute: int,
    *,
    namespace: str = DYNAMODB,
) -> Points:
    """The minutes from one to before another in which the metric has values. Minutes are counted from the epoch."""
    if namespace == DYNAMODB and metric in provisioned.METRICS:
        return provisioned.series(snapshot, scope, metric, dimensions, start_minute, end_minute)
    return stored(snapshot, scope, Place.of(namespace, metric, dimensions), MINUTE, start_minute, end_minute)


def hours(
    snapshot: Snapshot,
    scope: Scope,
    metric: str,
    dimensions: Mapping[str, str],
    start_hour: int,
    end_minute: int,
    *,
    namespace: str = DYNAMODB,
) -> Points:
    """The same for hours, of which the last need not be over."""
    if namespace == DYNAMODB and metric in provisioned.METRICS:
        first = start_hour * MINUTES_PER_HOUR
        points = provisioned.series(snapshot, scope, metric, dimensions, first, end_minute, every=MINUTES_PER_HOUR)
        return [(minute // MINUTES_PER_HOUR, statistic) for minute, statistic in points]
    end_hour = -(-end_minute // MINUTES_PER_HOUR)
    return stored(snapshot, scope, Place.of(namespace, metric, dimensions), HOUR, start_hour, end_hour)


def stored(snapshot: Snapshot, scope: Scope, place: Place, span: bytes, start: int, end: int) -> Points:
    name = orjson.dumps(place.name)
    return [
        (number, Statistic.load(orjson.loads(record)[place.name]))
        for number, record in scan_stored(snapshot, scope, place.namespace, span, place.group, start, end)
        if name + b":" in record  # only then is it worth parsing
    ]
