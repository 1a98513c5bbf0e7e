"""What a month of a table would cost, in each of the ways in which it can be paid for.

On demand every unit has its price. Provisioned capacity is paid by the hour whether it is used or not: either so much
that the busiest minute takes 70 % of it, all the time; or, with auto scaling, so much in each hour as its own busiest
minute needs. The latter flatters auto scaling a little, since a real one follows the traffic some minutes later.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from hashrange.backup.backup import backups
from hashrange.engine import keyspace
from hashrange.engine.counters import read_counter
from hashrange.engine.definition import PROVISIONED, TableDefinition
from hashrange.pricing.prices import ClassPrices, Prices
from hashrange.pricing.traffic import Minutes, Traffic
from hashrange.storage.interface import Snapshot

UTILISATION = 0.7
GIGABYTE = 1024**3
ITEM_OVERHEAD_BYTES = 100  # what every item and index entry counts besides its own size (developer guide)
MINUTES_PER_HOUR = 60
MILLION = 1_000_000
INFREQUENT_ACCESS = "STANDARD_INFREQUENT_ACCESS"

ON_DEMAND = "on demand"
FLAT = "provisioned"
SCALED = "provisioned, auto scaling"
DECLARED = "provisioned, as declared"


@dataclass(frozen=True, slots=True)
class Capacity:
    """Provisioned units, on average over the time that is paid for."""

    read: float
    write: float


@dataclass(frozen=True, slots=True)
class Option:
    """One way to pay for a table, and what a month of it costs."""

    mode: str
    is_infrequent_access: bool
    throughput: float
    storage: float
    capacity: Capacity | None = None

    @property
    def total(self) -> float:
        return self.throughput + self.storage

    @property
    def name(self) -> str:
        return f"{self.mode}, infrequent access" if self.is_infrequent_access else self.mode


@dataclass(frozen=True, slots=True)
class Storage:
    """How much a table keeps, in bytes as they are billed."""

    table: int  # with its local indexes
    global_indexes: int
    backups: int

    @property
    def total(self) -> int:
        return self.table + self.global_indexes


@dataclass(frozen=True, slots=True)
class Estimate:
    """A month of a table."""

    table: TableDefinition
    traffic: Traffic
    storage: Storage
    current: Option
    options: tuple[Option, ...]  # the cheapest first
    extras: dict[str, float]  # what comes on top, however the table is paid for
    months: float  # how many months the observed time makes: what was observed is divided by it

    @property
    def best(self) -> Option:
        """The cheapest. A table that declares less than it needs, and throttles, may be cheaper than any other."""
        return min(self.current, self.options[0], key=lambda option: option.total)

    @property
    def saving(self) -> float:
        return self.current.total - self.best.total


def estimate(
    snapshot: Snapshot, table: TableDefinition, traffic: Traffic, prices: Prices, *, now_micros: int
) -> Estimate:
    storage = storage_of(snapshot, table, now_micros)
    months = traffic.minutes / MINUTES_PER_HOUR / prices.hours_per_month
    options = [
        option
        for cheap in (False, True)
        for option in options_of(traffic, storage, prices, months, is_infrequent_access=cheap)
    ]
    return Estimate(
        table=table,
        traffic=traffic,
        storage=storage,
        current=current_option(table, options, storage, prices),
        options=tuple(sorted(options, key=lambda option: option.total)),
        extras=extras_of(table, traffic, storage, prices, months),
        months=months,
    )


def options_of(
    traffic: Traffic, storage: Storage, prices: Prices, months: float, *, is_infrequent_access: bool
) -> Iterable[Option]:
    price = prices.infrequent_access if is_infrequent_access else prices.standard
    kept = storage.total / GIGABYTE * price.storage_gb_month
    reads, writes = units(traffic)
    used = reads / months / MILLION * price.read_million + writes / months / MILLION * price.write_million
    yield Option(ON_DEMAND, is_infrequent_access, used, kept)
    for mode, capacity in ((FLAT, flat_capacity(traffic)), (SCALED, scaled_capacity(traffic))):
        paid = capacity_cost(capacity, price, prices.hours_per_month)
        yield Option(mode, is_infrequent_access, paid, kept, capacity)


def units(traffic: Traffic) -> tuple[float, float]:
    """All read and write units, of the table and its indexes."""
    loads = traffic.loads.values()
    return sum(sum(load.reads.values()) for load in loads), sum(sum(load.writes.values()) for load in loads)


def capacity_cost(capacity: Capacity, price: ClassPrices, hours: float) -> float:
    return hours * (capacity.read * price.read_unit_hour + capacity.write * price.write_unit_hour)


def flat_capacity(traffic: Traffic) -> Capacity:
    loads = traffic.loads.values()
    return Capacity(
        sum(needed(max(load.reads.values(), default=0.0)) for load in loads),
        sum(needed(max(load.writes.values(), default=0.0)) for load in loads),
    )


def scaled_capacity(traffic: Traffic) -> Capacity:
    loads = traffic.loads.values()
    return Capacity(
        sum(average_needed(load.reads, traffic) for load in loads),
        sum(average_needed(load.writes, traffic) for load in loads),
    )


def needed(units_in_minute: float) -> int:
    """The units to provision for a minute in which so many are used; there is no table with none."""
    return max(1, ceil(units_in_minute / 60 / UTILISATION))


def average_needed(minutes: Minutes, traffic: Traffic) -> float:
    """What is needed in each hour for its busiest minute, averaged over all hours."""
    first = traffic.first_minute // MINUTES_PER_HOUR
    hours = (traffic.end_minute - 1) // MINUTES_PER_HOUR - first + 1
    peaks: dict[int, float] = {}
    for minute, used in minutes.items():
        hour = minute // MINUTES_PER_HOUR
        peaks[hour] = max(peaks.get(hour, 0.0), used)
    return (sum(map(needed, peaks.values())) + hours - len(peaks)) / hours


def storage_of(snapshot: Snapshot, table: TableDefinition, now_micros: int) -> Storage:
    def billed(number: int) -> int:
        items, size_bytes = (
            read_counter(snapshot, keyspace.counter_key(table.id, number, what))
            for what in (keyspace.ITEMS, keyspace.BYTES)
        )
        return size_bytes + items * ITEM_OVERHEAD_BYTES

    prefix = keyspace.backup_key(keyspace.scope_prefix(table.account, table.region), table.name, "")
    kept = sum(each.size_bytes for each in backups(snapshot, prefix) if each.is_there(now_micros))
    local = sum(billed(index.number) for index in table.local_indexes)
    return Storage(
        table=billed(keyspace.BASE_TABLE) + local,
        global_indexes=sum(billed(index.number) for index in table.global_indexes),
        backups=kept,
    )


def current_option(table: TableDefinition, options: list[Option], storage: Storage, prices: Prices) -> Option:
    """How the table is paid for as it is declared now."""
    cheap = table.table_class == INFREQUENT_ACCESS
    if table.billing_mode != PROVISIONED:
        return next(each for each in options if (each.mode, each.is_infrequent_access) == (ON_DEMAND, cheap))
    price = prices.infrequent_access if cheap else prices.standard
    parts = [table.throughput, *(index.throughput for index in table.global_indexes)]
    capacity = Capacity(sum(each.read for each in parts), sum(each.write for each in parts))
    kept = storage.total / GIGABYTE * price.storage_gb_month
    return Option(DECLARED, cheap, capacity_cost(capacity, price, prices.hours_per_month), kept, capacity)


def extras_of(
    table: TableDefinition, traffic: Traffic, storage: Storage, prices: Prices, months: float
) -> dict[str, float]:
    other = prices.other
    recovery = storage.table / GIGABYTE * other.recovery_gb_month if table.recovery_since_micros is not None else 0.0
    every = {
        "point-in-time recovery": recovery,
        "backups": storage.backups / GIGABYTE * other.backup_gb_month,
        "reads of the stream": traffic.stream_reads / months / 100_000 * other.stream_reads_100k,
    }
    return {name: cost for name, cost in every.items() if cost}
