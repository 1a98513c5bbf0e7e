"""PutScheduledAction: change the bounds of a capacity at certain times."""

from __future__ import annotations

import uuid
from typing import Any

from hashrange.engine.database import Database
from hashrange.errors import LimitExceededException, ValidationException
from hashrange.limits import SCHEDULED_ACTIONS_MAX
from hashrange.operations.autoscaling.lookup import SERVICE, registered_target
from hashrange.operations.operation import Operation, Request, Write
from hashrange.scaling.schedule import BadSchedule, Schedule
from hashrange.scaling.target import ScalableTarget, ScheduledAction, save
from hashrange.storage.interface import Plan, Snapshot

SECONDS_MAX = 253_402_300_799  # the end of the year 9999


def put_scheduled_action(db: Database, request: Request) -> Write:
    fresh = str(uuid.uuid4())

    def plan(snapshot: Snapshot) -> Plan:
        target = registered_target(snapshot, request)
        old = target.action(request["ScheduledActionName"])
        if old is None and len(target.schedule) >= SCHEDULED_ACTIONS_MAX:
            raise LimitExceededException(
                f"Only {SCHEDULED_ACTIONS_MAX} scheduled actions are allowed for each scalable target"
            )
        now = db.clock.micros()
        changed = target.with_action(told(request, old, fresh, now))
        return Plan(save(changed, due_at_micros=due(changed, now)), answer={})

    return Write(plan)


def told(request: Request, old: ScheduledAction | None, fresh: str, now_micros: int) -> ScheduledAction:
    """The action with what the request says; what it does not mention stays."""
    schedule = scheduled(request, None if old is None else old.schedule)
    minimum, maximum = (None, None) if old is None else (old.minimum, old.maximum)
    bounds: dict[str, Any] = request.get("ScalableTargetAction") or {}
    minimum, maximum = bounds.get("MinCapacity", minimum), bounds.get("MaxCapacity", maximum)
    if minimum is None and maximum is None:
        raise ValidationException("At least one of MinCapacity and MaxCapacity must be specified")
    if minimum is not None and minimum < 1:
        raise ValidationException("Minimum capacity cannot be less than 1")
    if maximum is not None and maximum < (1 if minimum is None else minimum):
        raise ValidationException("Maximum capacity cannot be less than minimum capacity")
    return ScheduledAction(
        name=request["ScheduledActionName"],
        uuid=fresh if old is None else old.uuid,
        schedule=schedule,
        created_at_micros=now_micros if old is None else old.created_at_micros,
        due_at_micros=schedule.first(now_micros),
        minimum=minimum,
        maximum=maximum,
    )


def scheduled(request: Request, old: Schedule | None) -> Schedule:
    """The schedule. A new expression comes without the times and the zone of the one before it."""
    if "Schedule" in request:
        old = Schedule(request["Schedule"])
    if old is None:
        raise ValidationException("Schedule must be specified")
    start, end = moment(request, "StartTime"), moment(request, "EndTime")
    schedule = Schedule(
        expression=old.expression,
        timezone=request.get("Timezone", old.timezone),
        start_micros=old.start_micros if start is None else start,
        end_micros=old.end_micros if end is None else end,
    )
    try:
        schedule.check()
    except BadSchedule as error:
        raise ValidationException(str(error)) from None
    if start is not None and end is not None and start > end:
        raise ValidationException("Start time must be before end time")
    return schedule


def moment(request: Request, name: str) -> int | None:
    if name not in request:
        return None
    if not 0 <= request[name] <= SECONDS_MAX:
        raise ValidationException(f"Invalid {name}")
    return int(request[name] * 1_000_000)


def due(target: ScalableTarget, now_micros: int) -> int | None:
    """When to look at the target: no later than was planned, so that nothing else has to wait."""
    times = [target.due_at_micros, target.due_after(now_micros)]
    return min((time for time in times if time is not None), default=None)


OPERATION = Operation(name="PutScheduledAction", run=put_scheduled_action, service=SERVICE)
