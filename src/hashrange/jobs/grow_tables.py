"""Lets tables grow with their traffic, as the service does: on-demand tables towards twice what they were used for,
and partitions that are too hot or too full by being split. Only where the service's own limits are enforced
(`--service-limits`)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from hashrange.capacity.history import units_by_minute
from hashrange.capacity.ledger import KINDS, TokenLedger
from hashrange.capacity.limits import Owner, Throttling, partition_count, warm_throughput
from hashrange.capacity.partitions import bounds_of
from hashrange.engine import keyspace
from hashrange.engine.counters import read_counter
from hashrange.engine.database import Database
from hashrange.engine.definition import PAY_PER_REQUEST, TableDefinition
from hashrange.engine.lifecycle import save
from hashrange.engine.scope import scope_of
from hashrange.engine.table import Table
from hashrange.jobs.job import Job, Step
from hashrange.limits import PARTITION_BYTES
from hashrange.storage.interface import Plan, Snapshot

GROWING_MINUTES = 30  # a peak counts as the previous one when it is so long ago
WATCHED_MINUTES = 60  # how far back from there peaks are looked for


def next_step(db: Database) -> Step:
    ledger = db.ledger
    if not isinstance(ledger, TokenLedger) or ledger.settings.throttling is not Throttling.SERVICE:
        return None
    with db.read() as snapshot:
        for table in db.catalog.tables(snapshot):
            grown = grown_definition(db, snapshot, ledger, table)
            if grown != table.definition:
                return partial(keep, db, table, grown)
    return None


def grown_definition(db: Database, snapshot: Snapshot, ledger: TokenLedger, table: Table) -> TableDefinition:
    definition = table.definition
    bounds = {*ledger.splits(table), *size_bounds(snapshot, definition)}
    splits = tuple(sorted({*definition.partition_splits, *(bound.hex() for bound in bounds)}))
    if definition.billing_mode != PAY_PER_REQUEST:
        return replace(definition, partition_splits=splits)
    minute = int(db.clock.seconds()) // 60 - GROWING_MINUTES
    indexes = tuple(
        replace(index, warm=grown_warm(snapshot, table, index.name, index, minute))
        if index in definition.global_indexes
        else index
        for index in definition.indexes
    )
    warm = grown_warm(snapshot, table, None, definition, minute)
    return replace(definition, partition_splits=splits, warm=warm, indexes=indexes)


def size_bounds(snapshot: Snapshot, definition: TableDefinition) -> list[bytes]:
    """Where a table is split because its partitions would hold more than one can."""
    size_bytes = read_counter(snapshot, keyspace.counter_key(definition.id, keyspace.BASE_TABLE, keyspace.BYTES))
    needed = -(-size_bytes // PARTITION_BYTES)
    return bounds_of(needed, ()) if needed > partition_count(definition) else []


def grown_warm(snapshot: Snapshot, table: Table, index: str | None, owner: Owner, minute: int) -> dict[str, int] | None:
    """What is taken at once from now on: twice the highest minute, but never less than before."""
    before = warm_throughput(owner.warm, owner.throughput, PAY_PER_REQUEST)
    after_growth = dict(before)
    for kind in KINDS:
        used = units_by_minute(snapshot, table, index, kind, minute - WATCHED_MINUTES, minute + 1)
        name = f"{kind}UnitsPerSecond"
        after_growth[name] = max(before[name], int(2 * max(used.values(), default=0.0) / 60))
    return after_growth if after_growth != before else (None if owner.warm is None else dict(owner.warm))


def keep(db: Database, table: Table, grown: TableDefinition, snapshot: Snapshot) -> Plan:
    definition = table.definition
    current = db.catalog.find(snapshot, scope_of(definition.account, definition.region), definition.name)
    if current is None or current.definition != definition:
        return Plan()  # somebody changed it; the next look will see
    record = db.catalog.record(snapshot, scope_of(definition.account, definition.region), definition.name)
    changed = record.everywhere(
        lambda each: replace(each, warm=grown.warm, partition_splits=grown.partition_splits, indexes=grown.indexes)
    )
    return Plan([save(changed)])


JOB = Job("grow-tables", next_step, idle_seconds=15.0)
