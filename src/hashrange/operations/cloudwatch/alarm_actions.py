"""Switching the actions of alarms on and off. Names of alarms that do not exist are passed over."""

from __future__ import annotations

from dataclasses import replace

from hashrange.engine.database import Database
from hashrange.metrics import alarms
from hashrange.operations.operation import Request, Write
from hashrange.storage.interface import Plan, Snapshot


def switch_actions(db: Database, request: Request, *, enabled: bool) -> Write:
    def plan(snapshot: Snapshot) -> Plan:
        done = Plan()
        for name in dict.fromkeys(request["AlarmNames"]):
            old = alarms.find(snapshot, request.scope, name)
            if old is not None and old.actions_enabled != enabled:
                new = replace(old, actions_enabled=enabled, updated_at_micros=db.clock.micros())
                event = alarms.configured(snapshot, request.scope, old, new, new.updated_at_micros)
                done.mutations += [alarms.save(request.scope, new), *event]
        return done

    return Write(plan)
