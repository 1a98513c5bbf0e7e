"""A scalable target: the bounds of one capacity, the policy that moves it between them, and what moves the bounds.

All that Application Auto Scaling was told about one capacity is one record, and goes when the target is deregistered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson

from hashrange.engine import keyspace
from hashrange.engine.scope import Scope, scope_of
from hashrange.scaling.resource import Resource
from hashrange.scaling.schedule import Schedule
from hashrange.storage.interface import Snapshot
from hashrange.values.ordered import after

Mutation = tuple[bytes, bytes | None]

MINUTE_MICROS = 60_000_000
SETTLING_MICROS = 5_000_000  # after a minute's end, until every process has told what it consumed


@dataclass(frozen=True, slots=True)
class Policy:
    """Target tracking: keep the capacity so that a given part of it is consumed."""

    name: str
    uuid: str
    target_percent: float
    created_at_micros: int
    since_micros: int  # minutes before this do not count
    resource_label: str | None = None
    scale_out_cooldown_seconds: int | None = None
    scale_in_cooldown_seconds: int | None = None
    disable_scale_in: bool | None = None
    alarms: Mapping[str, str] = field(default_factory=dict)  # what each watches over -> its name


@dataclass(frozen=True, slots=True)
class ScheduledAction:
    """New bounds at certain times."""

    name: str
    uuid: str
    schedule: Schedule
    created_at_micros: int
    due_at_micros: int | None
    minimum: int | None = None
    maximum: int | None = None

    @classmethod
    def load(cls, data: dict[str, Any]) -> ScheduledAction:
        return cls(**{**data, "schedule": Schedule(**data["schedule"])})


@dataclass(frozen=True, slots=True)
class Suspended:
    """What must not happen for now."""

    scaling_in: bool = False
    scaling_out: bool = False
    schedule: bool = False


@dataclass(frozen=True, slots=True)
class Movement:
    """The last time that the policy moved the capacity. Cool-downs count from here."""

    at_micros: int
    units: int  # by how much; negative: down


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change that could not be made, and need not be tried again for a while."""

    until_micros: int
    decreasing: bool


@dataclass(frozen=True, slots=True)
class ScalableTarget:
    """One capacity within its bounds."""

    account: str
    region: str
    resource: Resource
    identifier: str  # the end of its ARN
    minimum: int
    maximum: int
    role_arn: str
    created_at_micros: int
    suspended: Suspended = field(default_factory=Suspended)
    policy: Policy | None = None
    schedule: tuple[ScheduledAction, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    bounds_are_new: bool = True  # whether the capacity has still to be brought between them
    movement: Movement | None = None
    refusal: Refusal | None = None
    alarmed_units: int | None = None  # the capacity that the thresholds of the alarms are made for
    due_at_micros: int | None = None  # when the controller has to look at it

    @property
    def scope(self) -> Scope:
        return scope_of(self.account, self.region)

    @property
    def key(self) -> bytes:
        return keyspace.scalable_target_key(self.scope.prefix, self.resource.id, self.resource.dimension)

    @property
    def arn(self) -> str:
        return f"arn:aws:application-autoscaling:{self.region}:{self.account}:scalable-target/{self.identifier}"

    def policy_arn(self, policy: Policy) -> str:
        return self._arn_of("scalingPolicy", policy.uuid, f"policyName/{policy.name}")

    def action_arn(self, action: ScheduledAction) -> str:
        return self._arn_of("scheduledAction", action.uuid, f"scheduledActionName/{action.name}")

    def _arn_of(self, part: str, uuid: str, name: str) -> str:
        resource = f"resource/dynamodb/{self.resource.id}"
        return f"arn:aws:autoscaling:{self.region}:{self.account}:{part}:{uuid}:{resource}:{name}"

    def clamped(self, units: int) -> int:
        return min(max(units, self.minimum), self.maximum)

    def action(self, name: str) -> ScheduledAction | None:
        return next((action for action in self.schedule if action.name == name), None)

    def with_action(self, action: ScheduledAction) -> ScalableTarget:
        others = [each for each in self.schedule if each.name != action.name]
        return replace(self, schedule=tuple(sorted((*others, action), key=lambda each: each.name)))

    def due_after(self, now_micros: int) -> int | None:
        """When the controller has to look at it, having just done so."""
        times = [action.due_at_micros for action in self.schedule if action.due_at_micros is not None]
        if self.bounds_are_new or self.policy is not None:
            times.append((now_micros // MINUTE_MICROS + 1) * MINUTE_MICROS + SETTLING_MICROS)
        return min(times, default=None)

    @classmethod
    def load(cls, stored: bytes) -> ScalableTarget:
        fields: dict[str, Any] = orjson.loads(stored)
        policy, movement, refusal = fields["policy"], fields["movement"], fields["refusal"]
        return cls(
            **{
                **fields,
                "resource": Resource(**fields["resource"]),
                "suspended": Suspended(**fields["suspended"]),
                "policy": None if policy is None else Policy(**policy),
                "schedule": tuple(ScheduledAction.load(action) for action in fields["schedule"]),
                "movement": None if movement is None else Movement(**movement),
                "refusal": None if refusal is None else Refusal(**refusal),
            }
        )


def save(target: ScalableTarget, *, due_at_micros: int | None) -> list[Mutation]:
    """Write a target, as it is to be looked at next at the given time."""
    mutations = forget_due(target)
    saved = replace(target, due_at_micros=due_at_micros)
    mutations.append((target.key, orjson.dumps(asdict(saved))))
    if due_at_micros is not None:
        mutations.append((keyspace.scaling_due_key(due_at_micros, target.key), b""))
    return mutations


def forget(target: ScalableTarget) -> list[Mutation]:
    return [*forget_due(target), (target.key, None)]


def forget_due(target: ScalableTarget) -> list[Mutation]:
    if target.due_at_micros is None:
        return []
    return [(keyspace.scaling_due_key(target.due_at_micros, target.key), None)]


def find_target(snapshot: Snapshot, scope: Scope, resource: Resource) -> ScalableTarget | None:
    stored = snapshot.get(keyspace.scalable_target_key(scope.prefix, resource.id, resource.dimension))
    return None if stored is None else ScalableTarget.load(stored)


def targets(snapshot: Snapshot, scope: Scope) -> Iterator[ScalableTarget]:
    """Those of an account in a region, by their resource and dimension."""
    prefix = keyspace.SCALABLE_TARGET + scope.prefix
    for _, stored in snapshot.scan(prefix, after(prefix)):
        yield ScalableTarget.load(stored)
