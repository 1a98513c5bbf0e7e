"""DescribeScalingActivities: what auto scaling did in the last six weeks, the latest first."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.operations.autoscaling.lookup import SERVICE, after_token, answered, is_asked_for, page, seconds
from hashrange.operations.operation import Operation, Request
from hashrange.scaling.activity import IN_PROGRESS, Activity, activities


def describe_scaling_activities(db: Database, request: Request) -> dict[str, Any]:
    now = db.clock.micros()
    with db.read() as snapshot:
        every = activities(snapshot, request.scope, now, after_token(request))
        found, token = page(request, (each for each in every if is_asked_for(request, each[1].resource)))
    return answered("ScalingActivities", [describe(activity, now) for activity in found], token)


def describe(activity: Activity, now_micros: int) -> dict[str, Any]:
    status = activity.status_at(now_micros)
    described = {
        "ActivityId": activity.id,
        "ServiceNamespace": "dynamodb",
        "ResourceId": activity.resource.id,
        "ScalableDimension": activity.resource.dimension,
        "Description": activity.description,
        "Cause": activity.cause,
        "StartTime": seconds(activity.started_at_micros),
        "StatusCode": status,
        "StatusMessage": activity.message_at(now_micros),
    }
    return described if status == IN_PROGRESS else {**described, "EndTime": seconds(activity.ended_at_micros)}


OPERATION = Operation(name="DescribeScalingActivities", run=describe_scaling_activities, service=SERVICE)
