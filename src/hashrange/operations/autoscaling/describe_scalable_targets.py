"""DescribeScalableTargets: the capacities that are scaled, with their bounds."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.operations.autoscaling.lookup import SERVICE, after_token, answered, is_asked_for, page, seconds
from hashrange.operations.operation import Operation, Request
from hashrange.scaling.target import ScalableTarget, targets


def describe_scalable_targets(db: Database, request: Request) -> dict[str, Any]:
    last = after_token(request) or b""
    ids = request.get("ResourceIds") or ()
    with db.read() as snapshot:
        found, token = page(
            request,
            (
                (target.key, target)
                for target in targets(snapshot, request.scope)
                if target.key > last
                and is_asked_for(request, target.resource)
                and (not ids or target.resource.id in ids)
            ),
        )
    return answered("ScalableTargets", [describe(target) for target in found], token)


def describe(target: ScalableTarget) -> dict[str, Any]:
    return {
        "ServiceNamespace": "dynamodb",
        "ResourceId": target.resource.id,
        "ScalableDimension": target.resource.dimension,
        "MinCapacity": target.minimum,
        "MaxCapacity": target.maximum,
        "RoleARN": target.role_arn,
        "CreationTime": seconds(target.created_at_micros),
        "SuspendedState": {
            "DynamicScalingInSuspended": target.suspended.scaling_in,
            "DynamicScalingOutSuspended": target.suspended.scaling_out,
            "ScheduledScalingSuspended": target.suspended.schedule,
        },
        "ScalableTargetARN": target.arn,
    }


OPERATION = Operation(name="DescribeScalableTargets", run=describe_scalable_targets, service=SERVICE)
