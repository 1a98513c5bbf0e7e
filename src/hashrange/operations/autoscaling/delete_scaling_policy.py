"""DeleteScalingPolicy: leave a capacity where it is, within its bounds."""

from __future__ import annotations

from dataclasses import replace

from hashrange.engine.database import Database
from hashrange.errors import ObjectNotFoundException
from hashrange.operations.autoscaling.lookup import SERVICE, named, registered_target
from hashrange.operations.operation import Operation, Request, Write
from hashrange.scaling import alarms
from hashrange.scaling.target import save
from hashrange.storage.interface import Plan, Snapshot


def delete_scaling_policy(db: Database, request: Request) -> Write:
    def plan(snapshot: Snapshot) -> Plan:
        target = registered_target(snapshot, request)
        if target.policy is None or target.policy.name != request["PolicyName"]:
            raise ObjectNotFoundException(
                f"No scaling policy found for {named(request)}, policy name: {request['PolicyName']}"
            )
        without = replace(target, policy=None, alarmed_units=None)
        due = without.due_after(db.clock.micros())
        return Plan([*alarms.removed_with(snapshot, target), *save(without, due_at_micros=due)], answer={})

    return Write(plan)


OPERATION = Operation(name="DeleteScalingPolicy", run=delete_scaling_policy, service=SERVICE)
