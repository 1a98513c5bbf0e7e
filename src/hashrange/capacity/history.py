"""What a table used lately, from its metrics: so that a server that starts again does not forget who has spent what."""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.capacity.bucket import BURST_SECONDS, Minute
from hashrange.capacity.limits import Cause
from hashrange.capacity.refusal import reason_of
from hashrange.engine.database import Database
from hashrange.engine.scope import scope_of
from hashrange.engine.table import Table
from hashrange.metrics.recorder import reason_metric
from hashrange.metrics.series import series
from hashrange.storage.interface import Snapshot

MINUTES = BURST_SECONDS // 60


def used_lately(db: Database, table: Table, index: str | None, kind: str, cause: Cause) -> Sequence[Minute]:
    """The minutes for which credit is kept, the oldest first. A table of the same name that was there before is not
    this one."""
    seconds = int(db.clock.seconds())
    last = seconds // 60
    first = max(last - MINUTES, table.definition.created_at_micros // 60_000_000)
    with db.read() as snapshot:
        used = units_by_minute(snapshot, table, index, kind, first, last + 1)
        throttled = sums_by_minute(
            snapshot, table, index, reason_metric(reason_of(index, kind, cause)), first, last + 1
        )
    return [
        Minute(used.get(each, 0.0), each in throttled, 60 if each < last else seconds % 60)
        for each in range(first, last + 1)
    ]


def units_by_minute(
    snapshot: Snapshot, table: Table, index: str | None, kind: str, start_minute: int, end_minute: int
) -> dict[int, float]:
    return sums_by_minute(snapshot, table, index, f"Consumed{kind}CapacityUnits", start_minute, end_minute)


def sums_by_minute(
    snapshot: Snapshot, table: Table, index: str | None, metric: str, start_minute: int, end_minute: int
) -> dict[int, float]:
    definition = table.definition
    dimensions = {"TableName": table.name}
    if index is not None:
        dimensions["GlobalSecondaryIndexName"] = index
    scope = scope_of(definition.account, definition.region)
    points = series(snapshot, scope, metric, dimensions, start_minute, end_minute)
    return {minute: statistic.sum for minute, statistic in points}
