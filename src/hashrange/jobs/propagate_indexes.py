"""Carries out what writes did to global secondary indexes, after the delay that was asked for."""

from __future__ import annotations

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.table import Changes
from hashrange.indexes.propagation import due_at_micros, load
from hashrange.jobs.job import Job, Step
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.ordered import after

WRITES_PER_STEP = 500


def next_step(db: Database) -> Step:
    now = db.clock.micros()
    with db.read() as snapshot:
        first = next(snapshot.scan(keyspace.POSTPONED, after(keyspace.POSTPONED), limit=1), None)
    if first is None or due_at_micros(first[1]) > now:
        return None
    return lambda snapshot: propagate(snapshot, now)


def propagate(snapshot: Snapshot, now_micros: int) -> Plan:
    """The writes that are due, in their order."""
    together = Changes()
    for key, stored in snapshot.scan(keyspace.POSTPONED, after(keyspace.POSTPONED), limit=WRITES_PER_STEP):
        if due_at_micros(stored) > now_micros:
            break
        changes = load(stored)
        together.mutations += changes.mutations
        together.adds += changes.adds
        together.mutations.append((key, None))
    return together.answering(None)


JOB = Job("propagate-indexes", next_step, idle_seconds=0.05)
