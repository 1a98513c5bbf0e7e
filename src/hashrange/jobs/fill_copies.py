"""Fills backups from tables, and restored tables from backups or from tables as they were.

The one that has come least far goes next, so that a small one need not wait for a large one to end.
"""

from __future__ import annotations

from hashrange.backup.fill import fill
from hashrange.backup.filling import Filling, fillings
from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.jobs.job import Job, Step
from hashrange.storage.interface import Snapshot


def next_step(db: Database) -> Step:
    with db.read() as snapshot:
        ready = [filling for filling in fillings(snapshot) if not is_waiting(snapshot, filling)]
    if not ready:
        return None
    key = keyspace.filling_key(min(ready, key=lambda filling: filling.items).id)
    return lambda snapshot: fill(db, snapshot, key)


def is_waiting(snapshot: Snapshot, filling: Filling) -> bool:
    """Whether it is filled from a backup that is not complete yet."""
    return filling.table is None and snapshot.get(keyspace.filling_key(filling.source_id)) is not None


JOB = Job("fill-copies", next_step)
