"""DeregisterScalableTarget: stop scaling a capacity, and forget its policy and its scheduled actions."""

from __future__ import annotations

from hashrange.engine.database import Database
from hashrange.operations.autoscaling.lookup import SERVICE, registered_target
from hashrange.operations.operation import Operation, Request, Write
from hashrange.scaling import alarms
from hashrange.scaling.target import forget
from hashrange.storage.interface import Plan, Snapshot


def deregister_scalable_target(db: Database, request: Request) -> Write:
    def plan(snapshot: Snapshot) -> Plan:
        target = registered_target(snapshot, request)
        return Plan([*alarms.removed_with(snapshot, target), *forget(target)], answer={})

    return Write(plan)


OPERATION = Operation(name="DeregisterScalableTarget", run=deregister_scalable_target, service=SERVICE)
