"""Carries out what writes did to global secondary indexes, after the delay that was asked for."""

from __future__ import annotations

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.table import Changes
from hashrange.indexes.propagation import due_at_micros, is_anything_postponed, load
from hashrange.jobs.job import Job, Step
from hashrange.storage.interface import Plan, Planner, Snapshot
from hashrange.values.ordered import after

WRITES_PER_STEP = 500
ALL_DUE = 2**63  # later than any write is due


def next_step(db: Database) -> Step:
    now = db.clock.micros()
    with db.read() as snapshot:
        first = next(snapshot.scan(keyspace.POSTPONED, after(keyspace.POSTPONED), limit=1), None)
    if first is None or due_at_micros(first[1]) > now:
        return None
    return lambda snapshot: propagate(db, snapshot, now)


def catch_up(db: Database) -> Planner | None:
    """The next step of carrying out all that is queued, due or not.

    For a server that starts without a delay, before it takes requests: it writes to the indexes at once, and what an
    earlier server queued must not come after that.
    """
    with db.read() as snapshot:
        postponed = is_anything_postponed(snapshot)
    return (lambda snapshot: propagate(db, snapshot, ALL_DUE)) if postponed else None


def propagate(db: Database, snapshot: Snapshot, due_by_micros: int) -> Plan:
    """The writes that are due, in their order."""
    now = db.clock.micros()
    together = Changes()
    for key, stored in snapshot.scan(keyspace.POSTPONED, after(keyspace.POSTPONED), limit=WRITES_PER_STEP):
        if due_at_micros(stored) > due_by_micros:
            break
        changes = load(snapshot, stored, now)
        together.mutations += changes.mutations
        together.adds += changes.adds
        together.mutations.append((key, None))
    return together.answering(None)


JOB = Job("propagate-indexes", next_step, idle_seconds=0.05)
