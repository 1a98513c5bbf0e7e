"""Forgets Kinesis destinations that ended some minutes ago, and are no longer shown."""

from __future__ import annotations

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.jobs.job import Job, Step
from hashrange.kinesis.destination import Destinations
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.ordered import after


def next_step(db: Database) -> Step:
    now = db.clock.micros()
    with db.read() as snapshot:
        for key, stored in snapshot.scan(keyspace.KINESIS, after(keyspace.KINESIS)):
            if is_over(stored, now):
                return lambda snapshot: forget(snapshot, key, now)
    return None


def is_over(stored: bytes, now_micros: int) -> bool:
    return not any(each.is_shown(now_micros) for each in Destinations.load(stored).every)


def forget(snapshot: Snapshot, key: bytes, now_micros: int) -> Plan:
    stored = snapshot.get(key)
    return Plan([(key, None)] if stored is not None and is_over(stored, now_micros) else [])


JOB = Job("forget-destinations", next_step, idle_seconds=30.0)
