"""Forgets which keys were used most more than a day ago, a bounded piece at a time."""

from __future__ import annotations

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.insights.window import MINUTES_KEPT, minute_of
from hashrange.jobs.job import Job, Step
from hashrange.storage.interface import Plan

MINUTES_PER_STEP = 500


def next_step(db: Database) -> Step:
    start, end = keyspace.hot_keys_range(max(0, minute_of(db.clock.micros()) - MINUTES_KEPT))
    with db.read() as snapshot:
        keys = [key for key, _ in snapshot.scan(start, end, limit=MINUTES_PER_STEP)]
    return (lambda snapshot: Plan([(key, None) for key in keys])) if keys else None


JOB = Job("trim-insights", next_step, idle_seconds=60.0)
