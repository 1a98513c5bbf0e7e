"""Moves the capacity of tables and indexes as Application Auto Scaling was told to.

Every scalable target says when it has to be looked at: at a minute's end if it has a policy, at the time of a scheduled
action, or at once when its bounds are new. A step looks at some of those that are due. What it decides depends on the
store and the clock only, so it does not matter which process runs it, or whether the one before it died.
"""

from __future__ import annotations

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.jobs.job import Job, Step
from hashrange.scaling.attend import Attendance
from hashrange.scaling.target import ScalableTarget
from hashrange.storage.interface import Plan, Snapshot

TARGETS_PER_STEP = 50


def next_step(db: Database) -> Step:
    with db.read() as snapshot:
        start, end = keyspace.scaling_due_range(db.clock.micros())
        if next(snapshot.scan(start, end, limit=1), None) is None:
            return None
    return lambda snapshot: work(db, snapshot)


def work(db: Database, snapshot: Snapshot) -> Plan:
    start, end = keyspace.scaling_due_range(db.clock.micros())
    mutations: list[tuple[bytes, bytes | None]] = []
    touched: set[tuple[str, str, str]] = set()
    for due, _ in snapshot.scan(start, end, limit=TARGETS_PER_STEP):
        stored = snapshot.get(keyspace.scalable_target_of(due))
        if stored is None:
            mutations.append((due, None))
            continue
        target = ScalableTarget.load(stored)
        table = (target.account, target.region, target.resource.table)
        if table in touched:
            continue  # a plan does not see its own changes, so a table's other capacity has to wait for the next step
        attendance = Attendance(db, snapshot, target)
        attendance.attend()
        mutations += attendance.mutations
        if attendance.changed_capacity:
            touched.add(table)
    return Plan(mutations)


JOB = Job("scale-tables", next_step, idle_seconds=1.0)
