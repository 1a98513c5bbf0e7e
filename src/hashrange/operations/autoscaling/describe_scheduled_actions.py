"""DescribeScheduledActions: when the bounds of capacities change, and to what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hashrange.engine.database import Database
from hashrange.operations.autoscaling.lookup import SERVICE, after_token, answered, is_asked_for, page, seconds
from hashrange.operations.operation import Operation, Request
from hashrange.scaling.target import ScalableTarget, ScheduledAction, targets
from hashrange.storage.interface import Snapshot


def describe_scheduled_actions(db: Database, request: Request) -> dict[str, Any]:
    last = after_token(request) or b""
    with db.read() as snapshot:
        found, token = page(request, (each for each in wanted(snapshot, request) if each[0] > last))
    return answered("ScheduledActions", found, token)


def wanted(snapshot: Snapshot, request: Request) -> Iterator[tuple[bytes, dict[str, Any]]]:
    names = request.get("ScheduledActionNames") or ()
    for target in targets(snapshot, request.scope):
        if is_asked_for(request, target.resource):
            for action in target.schedule:
                if not names or action.name in names:
                    yield target.key + b"\0" + action.name.encode(), describe(target, action)


def describe(target: ScalableTarget, action: ScheduledAction) -> dict[str, Any]:
    schedule = action.schedule
    bounds = {"MinCapacity": action.minimum, "MaxCapacity": action.maximum}
    members = {
        "ScheduledActionName": action.name,
        "ScheduledActionARN": target.action_arn(action),
        "ServiceNamespace": "dynamodb",
        "Schedule": schedule.expression,
        "Timezone": schedule.timezone,
        "ResourceId": target.resource.id,
        "ScalableDimension": target.resource.dimension,
        "StartTime": None if schedule.start_micros is None else seconds(schedule.start_micros),
        "EndTime": None if schedule.end_micros is None else seconds(schedule.end_micros),
        "ScalableTargetAction": {name: units for name, units in bounds.items() if units is not None},
        "CreationTime": seconds(action.created_at_micros),
    }
    return {name: value for name, value in members.items() if value is not None}


OPERATION = Operation(name="DescribeScheduledActions", run=describe_scheduled_actions, service=SERVICE)
