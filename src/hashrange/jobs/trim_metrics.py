"""Forgets measurements after fifteen days, a bounded piece at a time.

A step goes through some groups of metrics, and the place where it stopped is kept in the store. After the last group
there is an hour of rest.
"""

from __future__ import annotations

from itertools import islice

import orjson

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.scope import scope_of
from hashrange.jobs.job import Job, Step
from hashrange.metrics.points import DAYS_KEPT, HOUR, MINUTE, TOTAL, group_prefix_of, leap
from hashrange.metrics.provisioned import CHANGED
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.ordered import after

GROUPS_PER_STEP = 200
RECORDS_PER_STEP = 500
REST_SECONDS = 3600
SECONDS_PER_NUMBER = {MINUTE: 60, HOUR: 3600, CHANGED: 60}


def next_step(db: Database) -> Step:
    now = int(db.clock.seconds())
    with db.read() as snapshot:
        position, since = progress(snapshot)
        if not position and 0 <= now - since < REST_SECONDS:
            return None
        if next(leap(snapshot, keyspace.METRIC), None) is None:
            return None
    return lambda snapshot: trim(snapshot, now)


def progress(snapshot: Snapshot) -> tuple[bytes, int]:
    """Where to go on, and when the last round has ended."""
    stored = snapshot.get(keyspace.METRICS_TRIMMED)
    if stored is None:
        return b"", 0
    position, since = orjson.loads(stored)
    return bytes.fromhex(position), since


def trim(snapshot: Snapshot, now: int) -> Plan:
    position, _ = progress(snapshot)
    mutations: list[tuple[bytes, bytes | None]] = []
    following = b""
    for key in islice(leap(snapshot, position or keyspace.METRIC), GROUPS_PER_STEP):
        mutations += [(old, None) for old in expired(snapshot, key, now)]
        following = after(group_prefix_of(key))
        if len(mutations) >= RECORDS_PER_STEP:
            following = key  # there may be more of the same
            break
    done = next(leap(snapshot, following), None) is None if following else True
    mutations.append((keyspace.METRICS_TRIMMED, orjson.dumps(["" if done else following.hex(), now])))
    return Plan(mutations)


def expired(snapshot: Snapshot, key: bytes, now: int) -> list[bytes]:
    """The records of a group that are too old. What was measured in all time goes with the last of its hours."""
    account, region, namespace, span, group = keyspace.metric_parts_of(key)
    scope = scope_of(account, region).prefix
    if span == TOTAL:
        hours = keyspace.metric_group_prefix(scope, namespace, HOUR, group)
        return [] if any(snapshot.scan(hours, after(hours), limit=1)) else [key]
    oldest = (now - DAYS_KEPT * 86_400) // SECONDS_PER_NUMBER[span]
    start, end = (keyspace.metric_key(scope, namespace, span, group, number) for number in (0, oldest))
    found = list(snapshot.scan(start, end, limit=RECORDS_PER_STEP))
    if span == CHANGED and found and orjson.loads(found[-1][1]):  # the last note still says what holds
        found.pop()
    return [old for old, _ in found]


JOB = Job("trim-metrics", next_step, idle_seconds=30.0)
