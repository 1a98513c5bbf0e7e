"""The capacity that a scalable target is about: how much there is, and how to change it.

A change is the one that UpdateTable makes, with its limits: the same bounds, the same daily decreases.
"""

from __future__ import annotations

from dataclasses import replace

from hashrange.engine import lifecycle, throughput
from hashrange.engine.database import Database
from hashrange.engine.definition import PROVISIONED, TableDefinition, TableRecord, Throughput
from hashrange.engine.scope import Scope
from hashrange.engine.usage import READ
from hashrange.metrics.series import series
from hashrange.scaling.resource import Resource
from hashrange.scaling.target import MINUTE_MICROS
from hashrange.storage.interface import Snapshot


def scaled_table(db: Database, snapshot: Snapshot, scope: Scope, resource: Resource) -> TableDefinition | None:
    """The table, if it is there with provisioned capacity, and has the index."""
    table = db.catalog.find(snapshot, scope, resource.table)
    if table is None or table.definition.billing_mode != PROVISIONED:
        return None
    return table.definition if throughput_of(table.definition, resource) is not None else None


def throughput_of(table: TableDefinition, resource: Resource) -> Throughput | None:
    if resource.index is None:
        return table.throughput
    return next((index.throughput for index in table.global_indexes if index.name == resource.index), None)


def units_of(table: TableDefinition, resource: Resource) -> int:
    current = throughput_of(table, resource)
    assert current is not None
    return current.read if resource.kind == READ else current.write


def is_changeable(table: TableDefinition, resource: Resource) -> bool:
    """Whether nothing else about the table or the index is under way."""
    index = None if resource.index is None else table.index(resource.index)
    return table.status == "ACTIVE" and (index is None or index.status == "ACTIVE")


def changed(db: Database, table: TableDefinition, resource: Resource, units: int) -> TableRecord:
    """The table's new record with that capacity, or the error that UpdateTable would answer."""
    now = db.clock.micros()
    table = throughput.today(table, now)
    lifecycle.require_active(table)
    current = throughput_of(table, resource)
    assert current is not None
    outcome = throughput.changed(
        current,
        read=units if resource.kind == READ else current.read,
        write=current.write if resource.kind == READ else units,
        what="table" if resource.index is None else f"index {resource.index}",
        region=table.region,
        now_micros=now,
    )
    return lifecycle.begin(db, "update", table, _with_throughput(table, resource, outcome))


def _with_throughput(table: TableDefinition, resource: Resource, outcome: Throughput) -> TableDefinition:
    if resource.index is None:
        return replace(table, throughput=outcome)
    index = table.index(resource.index)
    assert index is not None
    return table.with_index(replace(index, throughput=outcome))


def consumed(snapshot: Snapshot, scope: Scope, resource: Resource, now_micros: int, minutes: int) -> list[float]:
    """The units consumed in each of the last complete minutes, the latest last; none where nothing was measured."""
    end = now_micros // MINUTE_MICROS
    metric = f"Consumed{resource.kind}CapacityUnits"
    measured = dict(series(snapshot, scope, metric, resource.metric_dimensions, end - minutes, end))
    return [measured[minute].sum if minute in measured else 0.0 for minute in range(end - minutes, end)]
