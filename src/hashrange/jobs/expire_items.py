"""Deletes expired items, a few in each transaction, so that requests get their turn in between.

A deletion is an ordinary write whose origin is the service: it leaves indexes, streams and counters as any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.scope import scope_of
from hashrange.engine.table import SERVICE, Changes, ItemChange, Table
from hashrange.jobs.job import Job, Step
from hashrange.metrics.points import noted
from hashrange.storage.interface import Plan, Snapshot
from hashrange.ttl.queue import ExpiryQueue, is_expired
from hashrange.ttl.record import TimeToLive
from hashrange.values.item import Item
from hashrange.values.ordered import after

DELETIONS_PER_STEP = 50
ITEMS_PER_STEP = 500


def next_step(db: Database) -> Step:
    with db.read() as snapshot:
        for key, stored in snapshot.scan(keyspace.EXPIRING, after(keyspace.EXPIRING)):
            record = TimeToLive.load(stored)
            if has_work(db, snapshot, keyspace.table_id_of(key), record):
                return lambda snapshot: work(db, snapshot, key)
    return None


def has_work(db: Database, snapshot: Snapshot, table_id: int, record: TimeToLive) -> bool:
    if record.position is not None or expiring_table(db, snapshot, table_id, record) is None:
        return True
    return next(due(db, snapshot, table_id, limit=1), None) is not None


def work(db: Database, snapshot: Snapshot, key: bytes) -> Plan:
    """The next piece of work for one table, whichever it is."""
    stored = snapshot.get(key)
    if stored is None:
        return Plan()
    table_id, record = keyspace.table_id_of(key), TimeToLive.load(stored)
    table = expiring_table(db, snapshot, table_id, record)
    if table is None:
        return empty_queue(snapshot, key, table_id)
    if record.position is not None:
        return fill_queue(snapshot, key, table, record, record.position)
    return delete_expired(db, snapshot, table, record.attribute)


def expiring_table(db: Database, snapshot: Snapshot, table_id: int, record: TimeToLive) -> Table | None:
    """The table, if it is still the same one and its items still expire by the same attribute."""
    table = db.catalog.find(snapshot, scope_of(record.account, record.region), record.table_name)
    if table is None or table.definition.id != table_id or table.definition.ttl_attribute != record.attribute:
        return None
    return table


def due(db: Database, snapshot: Snapshot, table_id: int, *, limit: int) -> Iterator[bytes]:
    """The queue's entries of the seconds that are over."""
    start, end = keyspace.expiring_items_range(table_id, int(db.clock.seconds()))
    for key, _ in snapshot.scan(start, end, limit=limit):
        yield key


def delete_expired(db: Database, snapshot: Snapshot, table: Table, attribute: str) -> Plan:
    changes = Changes()
    now = db.clock.seconds()
    deleted = 0
    for entry in due(db, snapshot, table.definition.id, limit=DELETIONS_PER_STEP):
        base_key = keyspace.expiring_base_key_of(entry)
        item = table.get(snapshot, base_key)
        if item is not None and is_expired(item, attribute, now):
            table.change(snapshot, ItemChange(table, base_key, item, None, origin=SERVICE), changes)
            deleted += 1
        changes.mutations.append((entry, None))
    if deleted:
        changes.mutations += noted(snapshot, table.definition, now, {"TimeToLiveDeletedItemCount": deleted})
    return changes.answering(None)


def fill_queue(snapshot: Snapshot, key: bytes, table: Table, record: TimeToLive, position: str) -> Plan:
    """Queue the items that were there before time to live was enabled."""
    queue = ExpiryQueue(table, record.attribute)
    mutations: list[tuple[bytes, bytes | None]] = []
    start = bytes.fromhex(position) or table.item_prefix
    last = None
    for item_key, stored in snapshot.scan(start, after(table.item_prefix), limit=ITEMS_PER_STEP):
        entry = queue.entry(Item.load(stored), item_key[len(table.item_prefix) :])
        if entry is not None:
            mutations.append((entry, b""))
        last = item_key
    following = None if last is None else (last + b"\0").hex()
    mutations.append((key, replace(record, position=following).dump()))
    return Plan(mutations)


def empty_queue(snapshot: Snapshot, key: bytes, table_id: int) -> Plan:
    """Forget the queue of a table that is gone or whose items no longer expire."""
    start, end = keyspace.expiring_items_range(table_id, None)
    keys = [entry for entry, _ in snapshot.scan(start, end, limit=ITEMS_PER_STEP)]
    mutations: list[tuple[bytes, bytes | None]] = [(entry, None) for entry in keys]
    if len(keys) < ITEMS_PER_STEP:
        mutations.append((key, None))
    return Plan(mutations)


JOB = Job("expire-items", next_step)
