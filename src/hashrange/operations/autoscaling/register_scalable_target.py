"""RegisterScalableTarget: let the capacity of a table or index be scaled between two bounds, or change the bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.errors import LimitExceededException, ValidationException
from hashrange.limits import SCALABLE_TARGETS_MAX
from hashrange.operations.autoscaling.lookup import SERVICE, resource_of
from hashrange.operations.autoscaling.tags import check_tags
from hashrange.operations.operation import Operation, Request, Write
from hashrange.scaling.registration import bounded, new_target, save_registered, scalable_table
from hashrange.scaling.target import ScalableTarget, Suspended, find_target
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.ordered import after


def register_scalable_target(db: Database, request: Request) -> Write:
    resource = resource_of(request)
    fresh = new_target(request.scope, resource, db.clock.micros())

    def plan(snapshot: Snapshot) -> Plan:
        table = scalable_table(db, snapshot, request.scope, resource)
        old = find_target(snapshot, request.scope, resource)
        if old is None:
            check_new(snapshot, request)
        target = told(old or fresh, request)
        return Plan(save_registered(db, snapshot, table, target, old), answer={"ScalableTargetARN": target.arn})

    return Write(plan)


def check_new(snapshot: Snapshot, request: Request) -> None:
    """What only a target that is not there yet has to have."""
    if "MinCapacity" not in request or "MaxCapacity" not in request:
        raise ValidationException("MinCapacity and MaxCapacity are required to register a new scalable target")
    prefix = keyspace.SCALABLE_TARGET + request.scope.prefix
    if sum(1 for _ in snapshot.scan(prefix, after(prefix), limit=SCALABLE_TARGETS_MAX)) >= SCALABLE_TARGETS_MAX:
        raise LimitExceededException(f"Only {SCALABLE_TARGETS_MAX} scalable targets are allowed for dynamodb")


def told(target: ScalableTarget, request: Request) -> ScalableTarget:
    """The target with what the request says; what it does not mention stays."""
    target = bounded(target, request.get("MinCapacity", target.minimum), request.get("MaxCapacity", target.maximum))
    if request.get("Tags"):
        target = replace(target, tags=check_tags({**target.tags, **request["Tags"]}))
    return replace(target, suspended=suspended(target.suspended, request.get("SuspendedState") or {}))


def suspended(now: Suspended, wanted: dict[str, Any]) -> Suspended:
    return Suspended(
        scaling_in=wanted.get("DynamicScalingInSuspended", now.scaling_in),
        scaling_out=wanted.get("DynamicScalingOutSuspended", now.scaling_out),
        schedule=wanted.get("ScheduledScalingSuspended", now.schedule),
    )


OPERATION = Operation(name="RegisterScalableTarget", run=register_scalable_target, service=SERVICE)
