"""Where measurements are kept: one record for a group of metrics and a span of time.

The group of AWS/DynamoDB's metrics is the table, so whatever is measured of a table in a minute is one record, a JSON
object of statistics by name. The name is the metric's, with the other dimensions behind it:

    SuccessfulRequestLatency/Operation=GetItem

Every measurement is added to three records at once: that of its minute, that of its hour and that of all time. Adding
is done by a plan, so it is right with any number of processes. Names that begin with a dot are ours, not CloudWatch's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import orjson

from hashrange.engine import keyspace
from hashrange.engine.definition import TableDefinition
from hashrange.engine.scope import Scope, scope_of
from hashrange.metrics.statistic import Statistic
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.ordered import after

DYNAMODB = "AWS/DynamoDB"
MINUTE = b"m"
HOUR = b"h"
TOTAL = b"t"
MINUTES_PER_HOUR = 60
DAYS_KEPT = 15

Statistics = dict[str, Statistic]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a metric is: in which group, and under which name."""

    namespace: str
    group: str
    name: str

    @classmethod
    def of(cls, namespace: str, metric: str, dimensions: Mapping[str, str]) -> Place:
        if namespace == DYNAMODB:
            rest = {name: value for name, value in dimensions.items() if name != "TableName"}
            return cls(namespace, dimensions.get("TableName", ""), named(metric, rest))
        return cls(namespace, orjson.dumps(dict(dimensions), option=orjson.OPT_SORT_KEYS).decode(), metric)


def named(metric: str, dimensions: Mapping[str, str]) -> str:
    """The name of a statistic inside its record."""
    return "/".join((metric, *(f"{name}={value}" for name, value in sorted(dimensions.items()))))


def dimensions_of(namespace: str, group: str, name: str) -> tuple[str, dict[str, str]]:
    """The metric and all dimensions of a statistic."""
    if namespace != DYNAMODB:
        return name, dict(orjson.loads(group))
    metric, *rest = name.split("/")
    table = {"TableName": group} if group else {}
    return metric, {**table, **dict(each.split("=", 1) for each in rest)}


@dataclass(slots=True)
class Measured:
    """Measurements on their way to the store, by scope, namespace, group and minute."""

    records: dict[tuple[bytes, str, str, int], Statistics] = field(default_factory=dict)

    def add(self, scope: Scope, namespace: str, group: str, minute: int, name: str, statistic: Statistic) -> None:
        record = self.records.setdefault((scope.prefix, namespace, group, minute), {})
        known = record.get(name)
        if known is None:
            known = record[name] = Statistic()
        known.add(statistic)

    def include(self, other: Measured) -> None:
        """Take over what another one holds."""
        for key, statistics in other.records.items():
            record = self.records.setdefault(key, {})
            for name, statistic in statistics.items():
                record.setdefault(name, Statistic()).add(statistic)

    def mutations(self, snapshot: Snapshot) -> list[tuple[bytes, bytes | None]]:
        """The records that hold these measurements too. Changes nothing, so a plan may ask again."""
        touched: dict[bytes, Statistics] = {}
        for (scope, namespace, group, minute), statistics in self.records.items():
            for span, number in ((MINUTE, minute), (HOUR, minute // MINUTES_PER_HOUR), (TOTAL, 0)):
                key = keyspace.metric_key(scope, namespace, span, group, number)
                if key not in touched:
                    touched[key] = load(snapshot.get(key))
                record = touched[key]
                for name, statistic in statistics.items():
                    record.setdefault(name, Statistic()).add(statistic)
        return [(key, dump(record)) for key, record in touched.items()]

    def plan(self, snapshot: Snapshot) -> Plan:
        return Plan(self.mutations(snapshot))


def noted(
    snapshot: Snapshot, definition: TableDefinition, now_seconds: float, values: Mapping[str, float]
) -> list[tuple[bytes, bytes | None]]:
    """Mutations that note some values of a table, for plans that write them together with what they are about."""
    measured = Measured()
    scope = scope_of(definition.account, definition.region)
    for name, value in values.items():
        measured.add(scope, DYNAMODB, definition.name, minute_of(now_seconds), name, Statistic(1, value, value, value))
    return measured.mutations(snapshot)


def load(stored: bytes | None) -> Statistics:
    if stored is None:
        return {}
    return {name: Statistic.load(numbers) for name, numbers in orjson.loads(stored).items()}


def dump(record: Statistics) -> bytes:
    return orjson.dumps({name: statistic.dump() for name, statistic in record.items()})


def scan(
    snapshot: Snapshot, scope: Scope, namespace: str, span: bytes, group: str, start: int, end: int
) -> Iterator[tuple[int, dict[str, list[float]]]]:
    """The statistics of a group from one minute or hour to before another, not loaded yet."""
    for number, stored in scan_stored(snapshot, scope, namespace, span, group, start, end):
        yield number, orjson.loads(stored)


def scan_stored(
    snapshot: Snapshot, scope: Scope, namespace: str, span: bytes, group: str, start: int, end: int
) -> Iterator[tuple[int, bytes]]:
    """The records of a group from one minute or hour to before another, as they are stored."""
    first = keyspace.metric_key(scope.prefix, namespace, span, group, max(start, 0))
    last = keyspace.metric_key(scope.prefix, namespace, span, group, max(end, 0))
    for key, stored in snapshot.scan(first, last):
        yield keyspace.metric_number_of(key), stored


def groups(
    snapshot: Snapshot, scope: Scope, namespace: str, *, after_group: str | None = None
) -> Iterator[tuple[str, Statistics]]:
    """Every group that something was measured of, in order, with what was in all time; those behind one if told."""
    prefix = keyspace.metric_prefix(scope.prefix, namespace, TOTAL)
    start = prefix if after_group is None else after(prefix + after_group.encode() + b"\0")
    for key, stored in snapshot.scan(start, after(prefix)):
        yield keyspace.metric_parts_of(key)[4], load(stored)


def groups_from(snapshot: Snapshot, scope: Scope, namespace: str, span: bytes, start: str) -> Iterator[str]:
    """The groups with records of a span, found by leaping from one to the next."""
    prefix = keyspace.metric_prefix(scope.prefix, namespace, span)
    position = prefix + start.encode()
    while (entry := next(snapshot.scan(position, after(prefix), limit=1), None)) is not None:
        yield keyspace.metric_parts_of(entry[0])[4]
        position = after(group_prefix_of(entry[0]))


def scopes(snapshot: Snapshot) -> Iterator[Scope]:
    """Every account and region that something was measured of."""
    position = keyspace.METRIC
    while (entry := next(snapshot.scan(position, after(keyspace.METRIC), limit=1), None)) is not None:
        account, region, *_ = keyspace.metric_parts_of(entry[0])
        scope = scope_of(account, region)
        yield scope
        position = after(keyspace.METRIC + scope.prefix)


def leap(snapshot: Snapshot, start: bytes) -> Iterator[bytes]:
    """The first key of each group and span, found by leaping from one to the next."""
    position = start
    while True:
        entry = next(snapshot.scan(position, after(keyspace.METRIC), limit=1), None)
        if entry is None:
            return
        yield entry[0]
        position = after(group_prefix_of(entry[0]))


def group_prefix_of(key: bytes) -> bytes:
    """What all records of the same group and span start with."""
    account, region, namespace, span, group = keyspace.metric_parts_of(key)
    return keyspace.metric_group_prefix(scope_of(account, region).prefix, namespace, span, group)


def minute_of(seconds: float) -> int:
    return int(seconds // 60)
