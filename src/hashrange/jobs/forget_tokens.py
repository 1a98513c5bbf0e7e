"""Forgets what is kept for a time only, client tokens and finished transfers, in the order in which they expire."""

from __future__ import annotations

import orjson

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.jobs.job import Job, Step
from hashrange.storage.interface import Plan, Snapshot

TOKENS_PER_STEP = 500


def next_step(db: Database) -> Step:
    now = db.clock.micros()
    with db.read() as snapshot:
        due = next(snapshot.scan(*keyspace.expired_range(now), limit=1), None)
    return None if due is None else lambda snapshot: forget(snapshot, now)


def forget(snapshot: Snapshot, now_micros: int) -> Plan:
    mutations: list[tuple[bytes, bytes | None]] = []
    for key, _ in snapshot.scan(*keyspace.expired_range(now_micros), limit=TOKENS_PER_STEP):
        mutations.append((key, None))
        token_key = keyspace.expiring_key_of(key)
        stored = snapshot.get(token_key)
        if stored is not None and orjson.loads(stored)["expires_at_micros"] <= now_micros:
            mutations.append((token_key, None))
    return Plan(mutations)


JOB = Job("forget-tokens", next_step, idle_seconds=5.0)
