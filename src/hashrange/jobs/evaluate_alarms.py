"""Evaluates alarms once a minute, shortly after the minute is over, so that all workers have told what they counted.

The evaluation only reads, in a thread; what it finds is written by a plan, unless the alarm was changed meanwhile.
"""

from __future__ import annotations

import logging

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.scope import Scope, scope_of
from hashrange.jobs.job import IoStep, Job, Step
from hashrange.metrics.alarms import Alarm, moved
from hashrange.metrics.evaluation import evaluated
from hashrange.storage.interface import Plan, Planner, Snapshot
from hashrange.values.ordered import after

log = logging.getLogger("hashrange.alarms")

ALARMS_PER_SNAPSHOT = 20
GRACE_SECONDS = 3  # after the end of a minute, for what is still on its way to the store


def next_step(db: Database) -> Step:
    minute = int(db.clock.seconds() - GRACE_SECONDS) // 60
    with db.read() as snapshot:
        first = next(snapshot.scan(keyspace.ALARM, after(keyspace.ALARM), limit=1), None)
        if first is None or last_minute(snapshot) == minute:
            return None
    return IoStep(lambda: evaluate(db, minute))


def last_minute(snapshot: Snapshot) -> int:
    return int(snapshot.get(keyspace.ALARMS_EVALUATED) or b"-1")


def evaluate(db: Database, minute: int) -> Planner:
    """Look at every alarm; the plan writes those that have come to another state."""
    now = db.clock.seconds()
    changed: list[tuple[bytes, bytes, Scope, Alarm, Alarm]] = []
    position: bytes | None = keyspace.ALARM
    while position is not None:
        with db.read() as snapshot:  # a new one every now and then, since old ones keep the store from tidying up
            part = list(snapshot.scan(position, after(keyspace.ALARM), limit=ALARMS_PER_SNAPSHOT))
            for key, stored in part:
                account, region, _ = key[1:].split(b"\0", 2)
                scope, alarm = scope_of(account.decode(), region.decode()), Alarm.load(stored)
                found = evaluated(snapshot, scope, alarm, now)
                if found is not alarm:
                    changed.append((key, stored, scope, alarm, found))
        position = part[-1][0] + b"\0" if len(part) == ALARMS_PER_SNAPSHOT else None

    def plan(snapshot: Snapshot) -> Plan:
        done = Plan([(keyspace.ALARMS_EVALUATED, str(minute).encode())])
        for key, stored, scope, old, new in changed:
            if snapshot.get(key) == stored:
                done.mutations += moved(snapshot, scope, old, new)
        return done

    for _, _, _, old, new in changed:
        log.info("alarm %s: %s -> %s", new.name, old.state, new.state)
    return plan


JOB = Job("evaluate-alarms", next_step, idle_seconds=1.0)
