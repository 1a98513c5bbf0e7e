"""What a table had to do in a stretch of time, as the metrics have it: units by minute, and by operation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hashrange.engine.definition import TableDefinition
from hashrange.engine.scope import scope_of
from hashrange.metrics.points import DYNAMODB, MINUTE, dimensions_of, scan
from hashrange.storage.interface import Snapshot

MINUTE_MICROS = 60_000_000
INDEX = "GlobalSecondaryIndexName"

Minutes = dict[int, float]
"""Units by minute; minutes without any are left out."""


@dataclass(slots=True)
class Load:
    """The units that one table, without its global indexes, or one global index had to serve."""

    reads: Minutes = field(default_factory=lambda: defaultdict(float))
    writes: Minutes = field(default_factory=lambda: defaultdict(float))


@dataclass(slots=True)
class Work:
    """What one operation used of a table or an index, and what it evaluated and returned there and elsewhere."""

    reads: float = 0.0
    writes: float = 0.0


@dataclass(slots=True)
class Traffic:
    """Everything that was observed of a table."""

    first_minute: int
    end_minute: int
    loads: dict[str | None, Load] = field(default_factory=dict)  # by global index; None: the table
    work: dict[tuple[str, str | None], Work] = field(default_factory=lambda: defaultdict(Work))  # by operation, index
    evaluated: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # items, by operation
    returned: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    stream_reads: float = 0.0

    @property
    def minutes(self) -> int:
        return self.end_minute - self.first_minute

    def count(self, name: str, numbers: Sequence[float], minute: int) -> None:
        """Take in one statistic of one minute: how many values, and their sum."""
        metric, dimensions = dimensions_of(DYNAMODB, "", name)
        operation, index = dimensions.get("Operation"), dimensions.get(INDEX)
        total = numbers[1]
        match metric:
            case "ConsumedReadCapacityUnits" if operation is None and index in self.loads:
                self.loads[index].reads[minute] += total
            case "ConsumedWriteCapacityUnits" if operation is None and index in self.loads:
                self.loads[index].writes[minute] += total
            case ".ConsumedReadCapacityUnits" if operation is not None:
                self.work[operation, index].reads += total
            case ".ConsumedWriteCapacityUnits" if operation is not None:
                self.work[operation, index].writes += total
            case ".EvaluatedItemCount" if operation is not None:
                self.evaluated[operation] += total
            case "ReturnedItemCount" if operation is not None:
                self.returned[operation] += total
            case "ReturnedRecordsCount":
                self.stream_reads += numbers[0]


def traffic_of(snapshot: Snapshot, table: TableDefinition, *, now_micros: int, days: float) -> Traffic:
    """The traffic of the last days, or since the table was made if that is not as long ago."""
    end = now_micros // MINUTE_MICROS + 1
    first = max(end - max(1, round(days * 24 * 60)), table.created_at_micros // MINUTE_MICROS)
    traffic = Traffic(min(first, end - 1), end)
    traffic.loads = {None: Load(), **{index.name: Load() for index in table.global_indexes}}
    scope = scope_of(table.account, table.region)
    for minute, record in scan(snapshot, scope, DYNAMODB, MINUTE, table.name, traffic.first_minute, end):
        take_in(traffic, minute, record)
    return traffic


def take_in(traffic: Traffic, minute: int, record: Mapping[str, Sequence[float]]) -> None:
    for name, numbers in record.items():
        traffic.count(name, numbers, minute)
