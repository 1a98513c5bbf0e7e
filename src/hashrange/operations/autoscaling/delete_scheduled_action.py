"""DeleteScheduledAction: no longer change the bounds of a capacity at those times."""

from __future__ import annotations

from dataclasses import replace

from hashrange.engine.database import Database
from hashrange.errors import ObjectNotFoundException
from hashrange.operations.autoscaling.lookup import SERVICE, named, registered_target
from hashrange.operations.autoscaling.put_scheduled_action import due
from hashrange.operations.operation import Operation, Request, Write
from hashrange.scaling.target import save
from hashrange.storage.interface import Plan, Snapshot


def delete_scheduled_action(db: Database, request: Request) -> Write:
    def plan(snapshot: Snapshot) -> Plan:
        target, name = registered_target(snapshot, request), request["ScheduledActionName"]
        if target.action(name) is None:
            raise ObjectNotFoundException(
                f"No scheduled action found for {named(request)}, scheduled action name: {name}"
            )
        remaining = replace(target, schedule=tuple(each for each in target.schedule if each.name != name))
        return Plan(save(remaining, due_at_micros=due(remaining, db.clock.micros())), answer={})

    return Write(plan)


OPERATION = Operation(name="DeleteScheduledAction", run=delete_scheduled_action, service=SERVICE)
