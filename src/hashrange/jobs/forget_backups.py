"""Removes backups that were deleted or have expired: their items, a bounded piece at a time, and at last themselves."""

from __future__ import annotations

from dataclasses import replace

from hashrange.backup.backup import Backup, backups
from hashrange.backup.filling import sources
from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.jobs.job import Job, Step
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.ordered import after

ITEMS_PER_STEP = 500


def next_step(db: Database) -> Step:
    now = db.clock.micros()
    with db.read() as snapshot:
        needed = sources(snapshot)
        for backup in backups(snapshot):
            if not backup.is_there(now) and backup.id not in needed:
                return lambda snapshot: forget(snapshot, backup)
    return None


def forget(snapshot: Snapshot, backup: Backup) -> Plan:
    """The first step of several marks it as deleted, so that nothing is filled into it or from it any more."""
    if backup.id in sources(snapshot):
        return Plan()
    prefix = keyspace.backup_item_prefix(backup.id)
    keys = [key for key, _ in snapshot.scan(prefix, after(prefix), limit=ITEMS_PER_STEP)]
    mutations: list[tuple[bytes, bytes | None]] = [(key, None) for key in keys]
    is_last = len(keys) < ITEMS_PER_STEP
    mutations.append((backup.stored_key, None if is_last else replace(backup, is_deleted=True).dump()))
    return Plan(mutations)


JOB = Job("forget-backups", next_step, idle_seconds=30.0)
