"""Fills new global secondary indexes with the items that were there before them, while writes go on.

The position is kept in the store together with the entries written so far, so a crash loses nothing, and writers
maintain the index themselves from the moment it is announced, so an item is never missed whichever comes first.
"""

from __future__ import annotations

from dataclasses import replace

from hashrange.engine import keyspace, lifecycle
from hashrange.engine.database import Database
from hashrange.engine.definition import IndexDefinition, TableDefinition, TableRecord
from hashrange.engine.index import Index
from hashrange.engine.table import Changes, ItemChange, Table
from hashrange.indexes.maintainer import IndexMaintainer
from hashrange.indexes.progress import Progress
from hashrange.jobs.job import Job, Step
from hashrange.metrics.points import named, noted
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.item import Item
from hashrange.values.ordered import after

ITEMS_PER_STEP = 250
BYTES_PER_STEP = 4 * 1024 * 1024  # writers wait while a step is written


def next_step(db: Database) -> Step:
    with db.read() as snapshot:
        for key, stored in snapshot.scan(keyspace.BACKFILL, after(keyspace.BACKFILL)):
            progress = Progress.load(stored)
            table = table_at(db, snapshot, progress.catalog_key)
            if table is None or not is_announced(table, key):
                return lambda snapshot: fill(db, snapshot, key)
    return None


def table_at(db: Database, snapshot: Snapshot, catalog_key: bytes) -> TableDefinition | None:
    stored = snapshot.get(catalog_key)
    return None if stored is None else TableRecord.load(stored).at(db.clock.micros())


def is_announced(table: TableDefinition, key: bytes) -> bool:
    """Whether the index is still in the phase before its filling."""
    index = index_numbered(table, keyspace.index_number_of(key))
    return index is not None and index.status == "CREATING" and not index.backfilling


def index_numbered(table: TableDefinition, number: int) -> IndexDefinition | None:
    return next((index for index in table.indexes if index.number == number), None)


def fill(db: Database, snapshot: Snapshot, key: bytes) -> Plan:
    """Write the entries of the next few items; after the last of them the index is ACTIVE."""
    stored = snapshot.get(key)
    if stored is None:
        return Plan()
    progress = Progress.load(stored)
    definition = table_at(db, snapshot, progress.catalog_key)
    is_same = definition is not None and definition.id == keyspace.table_id_of(key)
    index = index_numbered(definition, keyspace.index_number_of(key)) if definition and is_same else None
    if definition is None or index is None or index.status != "CREATING":
        return Plan([(key, None)])
    table = Table(definition)
    maintainer = IndexMaintainer(definition.id, Index(definition, index))
    changes = Changes()
    last = None
    seen_bytes = 0
    units = 0.0
    start = progress.position or table.item_prefix
    for item_key, item in snapshot.scan(start, after(table.item_prefix), limit=ITEMS_PER_STEP):
        units += add_entry(snapshot, table, maintainer, item_key, Item.load(item), changes)
        last = item_key
        seen_bytes += len(item)
        if seen_bytes >= BYTES_PER_STEP:
            break
    if last is not None:
        changes.mutations.append((key, replace(progress, position=last + b"\0").dump()))
        measured = measurements(index.name, units, last[len(table.item_prefix) :])
        changes.mutations += noted(snapshot, definition, db.clock.seconds(), measured)
        return changes.answering(None)
    return Plan([(key, None), lifecycle.save(filled(snapshot, progress.catalog_key, index.number))])


def measurements(index_name: str, units: float, base_key: bytes) -> dict[str, float]:
    """What a step used, and how far it has come: partitions are spread evenly, so the hash of the last one tells."""
    dimension = {"GlobalSecondaryIndexName": index_name}
    share = int.from_bytes(base_key[:4], "big") / 2**32
    return {
        named("OnlineIndexConsumedWriteCapacity", dimension): units,
        named("OnlineIndexPercentageProgress", dimension): 100 * share,
    }


def filled(snapshot: Snapshot, catalog_key: bytes, number: int) -> TableRecord:
    """The table's record with the index ACTIVE, now and in the outcome of a change that may be under way."""
    stored = snapshot.get(catalog_key)
    assert stored is not None
    record = TableRecord.load(stored)
    outcome = None if record.outcome is None else with_active(record.outcome, number)
    return replace(record, now=with_active(record.now, number), outcome=outcome)


def with_active(table: TableDefinition, number: int) -> TableDefinition:
    index = index_numbered(table, number)
    return table if index is None else table.with_index(replace(index, status="ACTIVE", backfilling=False))


def add_entry(
    snapshot: Snapshot, table: Table, maintainer: IndexMaintainer, key: bytes, item: Item, changes: Changes
) -> float:
    """Index an item, unless whoever wrote it last has done so already; the units that it took."""
    base_key = key[len(table.item_prefix) :]
    entry = maintainer.entry(item, base_key)
    if entry is not None and snapshot.get(entry[0]) is None:
        return maintainer.maintain(snapshot, ItemChange(table, base_key, None, item), changes).units
    return 0.0


JOB = Job("fill-indexes", next_step)
