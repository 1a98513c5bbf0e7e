"""Metrics that are settings: how much capacity tables have, and how much of the account's they take.

They do not change from minute to minute, so nothing is stored every minute. A job notes what they are when it finds
that they have changed, and every minute from then on has that value, until the next note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import orjson

from hashrange.engine import keyspace
from hashrange.engine.definition import PROVISIONED, IndexDefinition, TableDefinition
from hashrange.engine.scope import Scope
from hashrange.limits import ACCOUNT_CAPACITY_UNITS_MAX, TABLE_CAPACITY_UNITS_MAX
from hashrange.metrics.points import DYNAMODB, Place, named
from hashrange.metrics.statistic import Statistic
from hashrange.storage.interface import Snapshot
from hashrange.values.ordered import after

CHANGED = b"p"  # the span: from this minute on

Values = dict[str, float]

METRICS = (
    "ProvisionedReadCapacityUnits",
    "ProvisionedWriteCapacityUnits",
    "OnDemandMaxReadRequestUnits",
    "OnDemandMaxWriteRequestUnits",
    "AccountMaxReads",
    "AccountMaxWrites",
    "AccountMaxTableLevelReads",
    "AccountMaxTableLevelWrites",
    "AccountProvisionedReadCapacityUtilization",
    "AccountProvisionedWriteCapacityUtilization",
    "MaxProvisionedTableReadCapacityUtilization",
    "MaxProvisionedTableWriteCapacityUtilization",
)


def of_table(table: TableDefinition) -> Values:
    """What a table and its global indexes are set to."""
    values: Values = {}
    for index in (None, *table.global_indexes):
        dimensions = {} if index is None else {"GlobalSecondaryIndexName": index.name}
        for metric, value in settings_of(table, table if index is None else index):
            values[named(metric, dimensions)] = value
    return values


def settings_of(table: TableDefinition, part: TableDefinition | IndexDefinition) -> Iterator[tuple[str, float]]:
    if table.billing_mode == PROVISIONED:
        yield "ProvisionedReadCapacityUnits", part.throughput.read
        yield "ProvisionedWriteCapacityUnits", part.throughput.write
        return
    for kind in ("Read", "Write"):
        units = (part.on_demand or {}).get(f"Max{kind}RequestUnits", -1)
        if units > 0:
            yield f"OnDemandMax{kind}RequestUnits", units


class Totals:
    """What all tables of an account take of what it may have, one added after the other."""

    def __init__(self) -> None:
        self._sums = {"Read": 0, "Write": 0}
        self._highest = {"Read": 0, "Write": 0}

    def add(self, table: TableDefinition) -> None:
        if table.billing_mode == PROVISIONED:
            parts: tuple[TableDefinition | IndexDefinition, ...] = (table, *table.global_indexes)
            for part in parts:
                for kind, units in (("Read", part.throughput.read), ("Write", part.throughput.write)):
                    self._sums[kind] += units
                    self._highest[kind] = max(self._highest[kind], units)

    @property
    def values(self) -> Values:
        values: Values = {}
        for kind in ("Read", "Write"):
            values[f"AccountMax{kind}s"] = ACCOUNT_CAPACITY_UNITS_MAX
            values[f"AccountMaxTableLevel{kind}s"] = TABLE_CAPACITY_UNITS_MAX
            used = 100 * self._sums[kind] / ACCOUNT_CAPACITY_UNITS_MAX
            values[f"AccountProvisioned{kind}CapacityUtilization"] = used
            highest = 100 * self._highest[kind] / TABLE_CAPACITY_UNITS_MAX
            values[f"MaxProvisionedTable{kind}CapacityUtilization"] = highest
        return values


def note(scope: Scope, group: str, minute: int, values: Values) -> tuple[bytes, bytes]:
    """The mutation that says what holds from a minute on. No values: there is no such table any more."""
    return keyspace.metric_key(scope.prefix, DYNAMODB, CHANGED, group, minute), orjson.dumps(values)


def latest_of(snapshot: Snapshot, scope: Scope, group: str) -> Values:
    """What was noted last of one table, or of the account."""
    prefix = keyspace.metric_group_prefix(scope.prefix, DYNAMODB, CHANGED, group)
    for _, stored in snapshot.scan(prefix, after(prefix), reverse=True, limit=1):
        values: Values = orjson.loads(stored)
        return values
    return {}


def series(
    snapshot: Snapshot,
    scope: Scope,
    metric: str,
    dimensions: Mapping[str, str],
    start_minute: int,
    end_minute: int,
    *,
    every: int = 1,
) -> list[tuple[int, Statistic]]:
    """The values of each minute, or of every so many together; nothing for minutes in which there was none."""
    place = Place.of(DYNAMODB, metric, dimensions)
    notes = list(relevant(snapshot, scope, place.group, start_minute, end_minute))
    points: list[tuple[int, Statistic]] = []
    for (since, values), (until, _) in pairwise([*notes, (end_minute, {})]):
        for start in range(since - (since - start_minute) % every, until, every) if place.name in values else ():
            value, minutes = values[place.name], min(until, start + every) - max(since, start)
            if not points or points[-1][0] != start:
                points.append((start, Statistic()))
            points[-1][1].add(Statistic(minutes, value * minutes, value, value))
    return points


def relevant(
    snapshot: Snapshot, scope: Scope, group: str, start_minute: int, end_minute: int
) -> Iterator[tuple[int, Values]]:
    """The note that holds at the start, and those that follow before the end."""

    def key(minute: int) -> bytes:
        return keyspace.metric_key(scope.prefix, DYNAMODB, CHANGED, group, max(minute, 0))

    for _, stored in snapshot.scan(key(0), key(start_minute + 1), reverse=True, limit=1):
        yield start_minute, orjson.loads(stored)
    for noted, stored in snapshot.scan(key(start_minute + 1), key(end_minute)):
        yield keyspace.metric_number_of(noted), orjson.loads(stored)
