"""What one operation did to one table since the last time anybody looked.

The values are only collected here, which costs a request next to nothing; they become statistics some hundreds at a
time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hashrange.engine.scope import Scope, scope_of
from hashrange.engine.table import Table
from hashrange.engine.usage import READ, Use
from hashrange.metrics.statistic import Statistic

INDEX = "GlobalSecondaryIndexName"
LATENCY = "SuccessfulRequestLatency"
MILLISECONDS = 1000.0


class Tally:
    """Values that were measured and not looked at yet."""

    __slots__ = (
        "evaluated",
        "indexes",
        "operation",
        "reads",
        "returned",
        "scope",
        "seconds",
        "table_name",
        "writes",
    )

    def __init__(self, table: Table, operation: str) -> None:
        self.operation = operation
        self.table_name = table.name
        self.scope: Scope = scope_of(table.definition.account, table.definition.region)
        self.seconds: list[float] = []  # how long successful requests took
        self.reads: list[float] = []
        self.writes: list[float] = []
        self.indexes: dict[tuple[str, str], list[float]] = {}  # units by kind and global index
        self.evaluated: list[float] = []
        self.returned: list[float] = []

    def use(self, use: Use) -> None:
        """Something was used of the table and perhaps of its indexes."""
        consumed = use.consumed
        units = consumed.table
        if consumed.local_indexes:  # they live on the table's capacity
            units += sum(consumed.local_indexes.values())
        if units:
            (self.reads if use.kind is READ else self.writes).append(units)
        if consumed.global_indexes:
            for name, index_units in consumed.global_indexes.items():
                self.indexes.setdefault((use.kind, name), []).append(index_units)
        if use.evaluated is not None:
            self.evaluated.append(use.evaluated)
            self.returned.append(use.returned or 0)

    def take(self) -> Iterator[tuple[str, Statistic]]:
        """Statistics of all that was collected, by name, once. Names with a dot are for ourselves."""
        operation = f"/Operation={self.operation}"
        if self.seconds:
            yield LATENCY + operation, latency_of(self.seconds)
            self.seconds = []
        for kind, values in (("Read", self.reads), ("Write", self.writes)):
            if values:
                yield from consumed_of(kind, "", operation, values)
                values.clear()
        for (kind, index), values in self.indexes.items():
            yield from consumed_of(kind, f"/{INDEX}={index}", operation, values)
        self.indexes = {}
        if self.returned:
            yield "ReturnedItemCount" + operation, Statistic.of(self.returned)
            yield ".EvaluatedItemCount" + operation, Statistic.of(self.evaluated)
            self.returned, self.evaluated = [], []


def latency_of(seconds: Sequence[float]) -> Statistic:
    return Statistic.distributed(seconds, MILLISECONDS)


def consumed_of(kind: str, index: str, operation: str, units: list[float]) -> Iterator[tuple[str, Statistic]]:
    """Units as CloudWatch counts them, and by operation for those who ask what the capacity went into."""
    statistic = Statistic.of(units)
    yield f"Consumed{kind}CapacityUnits{index}", statistic
    yield f".Consumed{kind}CapacityUnits{index}{operation}", statistic
