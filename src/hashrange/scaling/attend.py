"""What the controller does when a scalable target is due: new bounds, the capacity between them, then the policy.

One look changes the capacity once at most. Whatever it finds, it says when to look again.
"""

from __future__ import annotations

import uuid
from dataclasses import replace

from hashrange.engine import lifecycle
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.engine.throughput import decrease_allowed_at
from hashrange.errors import ClientError
from hashrange.scaling import alarms
from hashrange.scaling.activity import Activity, add_activity
from hashrange.scaling.capacity import changed, consumed, is_changeable, scaled_table, throughput_of, units_of
from hashrange.scaling.controller import IN_MINUTES, wish
from hashrange.scaling.target import Movement, Mutation, Refusal, ScalableTarget, ScheduledAction, save
from hashrange.storage.interface import Snapshot

REFUSED_MICROS = 300_000_000  # after a failure that time alone may heal
RETRY_MICROS = 5_000_000  # while the table is busy with something else


class Attendance:
    """One look at one target. `mutations` is what comes of it."""

    def __init__(self, db: Database, snapshot: Snapshot, target: ScalableTarget) -> None:
        self._db = db
        self._snapshot = snapshot
        self._now = db.clock.micros()
        self._target = target
        self._busy = False
        self._noted = 0
        self.changed_capacity = False
        self.mutations: list[Mutation] = []

    def attend(self) -> None:
        self._follow_schedule()
        table = scaled_table(self._db, self._snapshot, self._target.scope, self._target.resource)
        if table is not None:
            self._busy = not is_changeable(table, self._target.resource)
            if self._target.bounds_are_new:
                self._keep_bounds(table)
            elif self._target.policy is not None and not self._busy:
                self._follow_policy(table)
        due = self._target.due_after(self._now)
        if self._busy and due is not None:
            due = min(due, self._now + RETRY_MICROS)
        self.mutations += save(self._target, due_at_micros=due)

    # ---- Schedule ----

    def _follow_schedule(self) -> None:
        for action in self._target.schedule:
            due = action.due_at_micros
            if due is not None and due <= self._now:
                following = replace(action, due_at_micros=action.schedule.following(due, self._now))
                self._target = self._target.with_action(following)
                if not self._target.suspended.schedule:
                    self._take(action)

    def _take(self, action: ScheduledAction) -> None:
        """Set the bounds that an action is for."""
        target = self._target
        minimum = target.minimum if action.minimum is None else action.minimum
        maximum = target.maximum if action.maximum is None else action.maximum
        parts = [("min", action.minimum), ("max", action.maximum)]
        what = " and ".join(f"{name} capacity to {units}" for name, units in parts if units is not None)
        failure = None
        if minimum > maximum:
            failure = "Maximum capacity cannot be less than minimum capacity"
        else:
            self._target = replace(target, minimum=minimum, maximum=maximum, bounds_are_new=True)
        cause = f"scheduled action name {action.name} was triggered"
        self._note(f"Setting {what}", cause, self._now, failure, of_capacity=False)

    # ---- Capacity ----

    def _keep_bounds(self, table: TableDefinition) -> None:
        current = units_of(table, self._target.resource)
        wanted = self._target.clamped(current)
        if wanted == current:
            self._target = replace(self._target, bounds_are_new=False)
        elif not self._busy and self._may_try(wanted < current):
            bound = "minimum" if wanted > current else "maximum"
            if self._change(table, wanted, f"{bound} capacity was set to {wanted}"):
                self._target = replace(self._target, bounds_are_new=False)

    def _follow_policy(self, table: TableDefinition) -> None:
        target, policy = self._target, self._target.policy
        assert policy is not None
        current = units_of(table, target.resource)
        minutes = consumed(self._snapshot, target.scope, target.resource, self._now, IN_MINUTES)
        wanted = wish(target, policy, minutes, current, self._now)
        if wanted is None or not self._may_try(wanted.units < current):
            self._fit_alarms(current)  # somebody else may have changed the capacity
            return
        alarm = policy.alarms[wanted.alarm]
        cause = f"monitor alarm {alarm} in state ALARM triggered policy {policy.name}"
        if self._change(table, wanted.units, cause):
            self._target = replace(self._target, movement=Movement(self._now, wanted.units - current))

    def _may_try(self, decreasing: bool) -> bool:
        refusal = self._target.refusal
        return refusal is None or refusal.decreasing != decreasing or self._now >= refusal.until_micros

    def _change(self, table: TableDefinition, units: int, cause: str) -> bool:
        """Change the capacity as UpdateTable would, and tell what came of it."""
        resource = self._target.resource
        description = f"Setting {resource.units} to {units}."
        try:
            record = changed(self._db, table, resource, units)
        except ClientError as error:
            self._note(description, cause, self._now, error.message)
            self._target = replace(self._target, refusal=self._refusal(table, units))
            return False
        self._target = replace(self._target, refusal=None)
        self.mutations.append(lifecycle.save(record))
        self._fit_alarms(units)
        self._note(description, cause, max(self._now, record.settles_at_micros))
        self.changed_capacity = True
        return True

    def _fit_alarms(self, units: int) -> None:
        if self._target.policy is not None and self._target.alarmed_units != units:
            self.mutations += alarms.made_for(self._snapshot, self._target, units, self._now)
            self._target = replace(self._target, alarmed_units=units)

    def _refusal(self, table: TableDefinition, units: int) -> Refusal:
        """When it makes sense to try again: a decrease when the day's rule allows one, others in some minutes."""
        current = throughput_of(table, self._target.resource)
        assert current is not None
        later = self._now + REFUSED_MICROS
        allowed = decrease_allowed_at(current, self._now)
        decreasing = units < units_of(table, self._target.resource)
        return Refusal(allowed if decreasing and allowed > self._now else later, decreasing)

    def _note(
        self,
        description: str,
        cause: str,
        ended_at_micros: int,
        failure: str | None = None,
        *,
        of_capacity: bool = True,
    ) -> None:
        activity = Activity(
            id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self._target.arn} {self._now} {description}")),
            resource=self._target.resource,
            description=description,
            cause=cause,
            started_at_micros=self._now,
            ended_at_micros=ended_at_micros,
            failure=failure,
            of_capacity=of_capacity,
        )
        self.mutations += add_activity(self._snapshot, self._target.scope, activity, self._noted)
        self._noted += 1
