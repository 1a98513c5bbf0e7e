"""How scalable targets and their policies come to be, whichever service is asked for them."""

from __future__ import annotations

import secrets
import string
import uuid
from dataclasses import dataclass, replace

from hashrange.engine.database import Database
from hashrange.engine.definition import PROVISIONED, TableDefinition
from hashrange.engine.scope import Scope
from hashrange.errors import ValidationException
from hashrange.scaling import alarms
from hashrange.scaling.capacity import throughput_of, units_of
from hashrange.scaling.resource import Resource
from hashrange.scaling.target import Mutation, Policy, ScalableTarget, save
from hashrange.storage.interface import Snapshot

ROLE = (
    "arn:aws:iam::{account}:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"
    "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"
)
IDENTIFIER_CHARACTERS = string.ascii_lowercase + string.digits
IDENTIFIER_LENGTH = 36


@dataclass(frozen=True, slots=True)
class Tracking:
    """What a policy is asked to be."""

    name: str
    target_percent: float
    scale_out_cooldown_seconds: int | None = None
    scale_in_cooldown_seconds: int | None = None
    disable_scale_in: bool | None = None
    resource_label: str | None = None


def scalable_table(db: Database, snapshot: Snapshot, scope: Scope, resource: Resource) -> TableDefinition:
    """The table of a resource that can be registered."""
    found = db.catalog.find(snapshot, scope, resource.table)
    if found is None:
        raise ValidationException(f"DynamoDB table does not exist: {resource.id}")
    if throughput_of(found.definition, resource) is None:
        raise ValidationException(f"DynamoDB index does not exist: {resource.id}")
    if found.definition.billing_mode != PROVISIONED:
        raise ValidationException(f"DynamoDB table does not have provisioned capacity: {resource.id}")
    return found.definition


def new_target(scope: Scope, resource: Resource, now_micros: int) -> ScalableTarget:
    """A target without bounds; they must be given before it is saved."""
    return ScalableTarget(
        account=scope.account,
        region=scope.region,
        resource=resource,
        identifier="".join(secrets.choice(IDENTIFIER_CHARACTERS) for _ in range(IDENTIFIER_LENGTH)),
        minimum=0,
        maximum=0,
        role_arn=ROLE.format(account=scope.account),
        created_at_micros=now_micros,
    )


def bounded(target: ScalableTarget, minimum: int, maximum: int) -> ScalableTarget:
    if minimum < 1:
        raise ValidationException("Minimum capacity cannot be less than 1")
    if minimum > maximum:
        raise ValidationException("Maximum capacity cannot be less than minimum capacity")
    are_new = target.bounds_are_new or (minimum, maximum) != (target.minimum, target.maximum)
    return replace(target, minimum=minimum, maximum=maximum, bounds_are_new=are_new)


def tracked(target: ScalableTarget, wanted: Tracking, now_micros: int) -> ScalableTarget:
    """The target with that policy. One of the same name stays the same policy, with the same alarms."""
    for seconds in (wanted.scale_out_cooldown_seconds, wanted.scale_in_cooldown_seconds):
        if seconds is not None and seconds < 0:
            raise ValidationException("Cooldown must be greater than or equal to 0")
    if wanted.target_percent <= 0:
        raise ValidationException("TargetValue must be greater than 0")
    old = target.policy if target.policy is not None and target.policy.name == wanted.name else None
    policy = Policy(
        name=wanted.name,
        uuid=str(uuid.uuid4()) if old is None else old.uuid,
        target_percent=wanted.target_percent,
        created_at_micros=now_micros if old is None else old.created_at_micros,
        since_micros=now_micros,
        resource_label=wanted.resource_label,
        scale_out_cooldown_seconds=wanted.scale_out_cooldown_seconds,
        scale_in_cooldown_seconds=wanted.scale_in_cooldown_seconds,
        disable_scale_in=wanted.disable_scale_in,
        alarms=alarms.new_names(target.resource) if old is None else old.alarms,
    )
    return replace(target, policy=policy)


def save_registered(
    db: Database, snapshot: Snapshot, table: TableDefinition | None, target: ScalableTarget, old: ScalableTarget | None
) -> list[Mutation]:
    """Write a target that was told something new, with its alarms; the controller looks at it at once."""
    now = db.clock.micros()
    mutations: list[Mutation] = []
    if old is not None and old.policy != target.policy:
        kept = old.policy is not None and target.policy is not None and old.policy.alarms == target.policy.alarms
        mutations += [] if kept else alarms.removed_with(snapshot, old)
    if target.policy is not None and table is not None and (old is None or old.policy != target.policy):
        units = units_of(table, target.resource)
        mutations += alarms.made_for(snapshot, target, units, now)
        target = replace(target, alarmed_units=units)
    due = now if target.bounds_are_new else target.due_after(now)
    return [*mutations, *save(target, due_at_micros=due)]
