"""Which limits a table or an index has: those that it declares, and those that the service has beneath them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from hashrange.capacity.bucket import BURST_SECONDS
from hashrange.engine.definition import PROVISIONED, IndexDefinition, TableDefinition, Throughput
from hashrange.engine.usage import READ
from hashrange.limits import (
    ON_DEMAND_READ_UNITS,
    ON_DEMAND_WRITE_UNITS,
    PARTITION_READ_UNITS,
    PARTITION_WRITE_UNITS,
    TABLE_CAPACITY_UNITS_MAX,
)


class Throttling(StrEnum):
    """Which limits are enforced.

    `off`: none. `declared`: those that tables declare, provisioned throughput and on-demand maxima. `service`: also
    those that nobody declared but the live service has: what an on-demand table takes before it grows, the throughput
    of one partition, the quota of the account.
    """

    OFF = "off"
    DECLARED = "declared"
    SERVICE = "service"


class Cause(StrEnum):
    """What was exceeded, as the end of a throttling reason says it. An on-demand table that has to grow first
    is told as one whose key ranges are too small."""

    PROVISIONED = "ProvisionedThroughputExceeded"
    ON_DEMAND_MAXIMUM = "MaxOnDemandThroughputExceeded"
    ACCOUNT = "AccountLimitExceeded"
    KEY_RANGE = "KeyRangeThroughputExceeded"


@dataclass(frozen=True, slots=True)
class Limit:
    """Units per second, and for how many seconds unused ones are kept."""

    name: str
    rate: float
    burst_seconds: int
    cause: Cause


Owner = TableDefinition | IndexDefinition


def limits_of(table: TableDefinition, owner: Owner, kind: str, throttling: Throttling) -> Iterator[Limit]:
    """The limits on reads or on writes of a table or of one of its global secondary indexes."""
    if throttling is Throttling.OFF:
        return
    if table.billing_mode == PROVISIONED:
        yield Limit("p", provisioned(owner.throughput, kind), BURST_SECONDS, Cause.PROVISIONED)
        return
    maximum = (owner.on_demand or {}).get("MaxReadRequestUnits" if kind == READ else "MaxWriteRequestUnits", -1)
    if maximum > 0:
        yield Limit("m", maximum, BURST_SECONDS, Cause.ON_DEMAND_MAXIMUM)
    if throttling is Throttling.SERVICE:
        yield Limit("w", warm_units(table, owner, kind), 1, Cause.KEY_RANGE)
        yield Limit("a", TABLE_CAPACITY_UNITS_MAX, 1, Cause.ACCOUNT)


def provisioned(throughput: Throughput, kind: str) -> int:
    return throughput.read if kind == READ else throughput.write


def warm_units(table: TableDefinition, owner: Owner, kind: str) -> int:
    """What the table or index takes at once, without growing first."""
    name = "ReadUnitsPerSecond" if kind == READ else "WriteUnitsPerSecond"
    return warm_throughput(owner.warm, owner.throughput, table.billing_mode)[name]


def warm_throughput(known: Mapping[str, int] | None, throughput: Throughput, mode: str) -> dict[str, int]:
    """The highest of what was asked for, what was provisioned, and what every on-demand table can do."""
    on_demand = mode != PROVISIONED
    least = {
        "ReadUnitsPerSecond": max(throughput.highest_read, ON_DEMAND_READ_UNITS if on_demand else throughput.read),
        "WriteUnitsPerSecond": max(throughput.highest_write, ON_DEMAND_WRITE_UNITS if on_demand else throughput.write),
    }
    return {name: max(units, (known or {}).get(name, 0)) for name, units in least.items()}


def partition_count(table: TableDefinition) -> int:
    """How many partitions a table begins with: enough for its throughput. Others come by splits."""
    warm = warm_throughput(table.warm, table.throughput, table.billing_mode)
    by_throughput = (
        warm["ReadUnitsPerSecond"] / PARTITION_READ_UNITS + warm["WriteUnitsPerSecond"] / PARTITION_WRITE_UNITS
    )
    return max(1, -int(-by_throughput // 1))
