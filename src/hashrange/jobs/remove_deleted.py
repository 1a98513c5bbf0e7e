"""Removes what deleted tables and indexes leave behind, a bounded piece at a time.

Nothing of a table goes while a backup, a restored table or an export is still being filled from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import orjson

from hashrange.backup.filling import sources
from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.definition import TableRecord
from hashrange.jobs.job import Job, Step
from hashrange.storage.interface import Plan, Snapshot
from hashrange.transfer.transfer import exported_tables
from hashrange.values.ordered import after

ENTRIES_PER_STEP = 500


def next_step(db: Database) -> Step:
    now = db.clock.micros()
    with db.read() as snapshot:
        needed = sources(snapshot) | exported_tables(snapshot)
        for key, stored in snapshot.scan(keyspace.DELETED, after(keyspace.DELETED)):
            notice = orjson.loads(stored)
            if notice["gone_at_micros"] <= now and keyspace.table_id_of(key) not in needed:
                return lambda snapshot: removal(snapshot, key, notice)
    return None


def removal(snapshot: Snapshot, notice_key: bytes, notice: dict[str, str]) -> Plan:
    """Forget the table's record if it is still the deleted one's, then its data, and at last the notice."""
    table_id = keyspace.table_id_of(notice_key)
    mutations: list[tuple[bytes, bytes | None]] = []
    if "catalog_key" in notice:
        catalog_key = bytes.fromhex(notice["catalog_key"])
        stored = snapshot.get(catalog_key)
        if stored is not None and TableRecord.load(stored).now.id == table_id:
            mutations.append((catalog_key, None))
    keys = list(islice(leftover_keys(snapshot, notice_key), ENTRIES_PER_STEP))
    mutations.extend((key, None) for key in keys)
    if len(keys) < ENTRIES_PER_STEP:
        mutations.append((notice_key, None))
    return Plan(mutations)


def leftover_keys(snapshot: Snapshot, notice_key: bytes) -> Iterator[bytes]:
    table_id = keyspace.table_id_of(notice_key)
    index_number = keyspace.index_number_of(notice_key)
    if index_number == keyspace.BASE_TABLE:
        ranges = keyspace.ranges_of_table(table_id)
    else:
        ranges = keyspace.ranges_of_index(table_id, index_number)
    for start, end in ranges:
        for key, _ in snapshot.scan(start, end):
            yield key


JOB = Job("remove-deleted", next_step)
