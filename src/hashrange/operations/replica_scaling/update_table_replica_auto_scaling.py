"""UpdateTableReplicaAutoScaling: scale the capacities of a table and of its indexes, or stop scaling them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hashrange.engine import lifecycle
from hashrange.engine.database import Database
from hashrange.engine.definition import PROVISIONED, TableDefinition
from hashrange.engine.scope import resolve_table
from hashrange.engine.usage import READ, WRITE
from hashrange.errors import ResourceNotFoundException, ValidationException
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.replica_scaling.settings import describe, targets_of
from hashrange.operations.tables.schema import invalid
from hashrange.scaling import alarms
from hashrange.scaling.registration import Tracking, bounded, new_target, save_registered, tracked
from hashrange.scaling.resource import Resource
from hashrange.scaling.target import Mutation, ScalableTarget, forget
from hashrange.storage.interface import Plan, Snapshot

Wire = dict[str, Any]
Asked = tuple[Resource, Wire]


def update_table_replica_auto_scaling(db: Database, request: Request) -> Write:
    scope, name = resolve_table(request.scope, request["TableName"])
    asked = list(updates(request, name))
    if not asked:
        raise ValidationException(
            "At least one of ProvisionedWriteCapacityAutoScalingUpdate, GlobalSecondaryIndexUpdates "
            "or ReplicaUpdates is required"
        )

    def plan(snapshot: Snapshot) -> Plan:
        table = lifecycle.existing_table(db, snapshot, scope, name).definition
        lifecycle.require_active(table)
        check_table(table, asked)
        found = targets_of(snapshot, scope, table)
        mutations: list[Mutation] = []
        for resource, update in asked:
            old = found[resource]
            if update.get("AutoScalingDisabled"):
                mutations += [] if old is None else [*alarms.removed_with(snapshot, old), *forget(old)]
                found[resource] = None
            else:
                target = updated(old or new_target(scope, resource, db.clock.micros()), update, db.clock.micros())
                mutations += save_registered(db, snapshot, table, target, old)
                found[resource] = target
        return Plan(mutations, answer={"TableAutoScalingDescription": describe(table, found)})

    return Write(plan)


def updates(request: Request, table: str) -> Iterator[Asked]:
    """What the request asks for each capacity: writes for the whole table, reads replica by replica."""
    if "ProvisionedWriteCapacityAutoScalingUpdate" in request:
        yield Resource(table, None, WRITE), request["ProvisionedWriteCapacityAutoScalingUpdate"]
    for index in request.get("GlobalSecondaryIndexUpdates") or []:
        yield from index_update(table, index, WRITE)
    for replica in request.get("ReplicaUpdates") or []:
        if replica["RegionName"] != request.scope.region:
            raise invalid(f"Table {table} has no replica in region: {replica['RegionName']}")
        if "ReplicaProvisionedReadCapacityAutoScalingUpdate" in replica:
            yield Resource(table, None, READ), replica["ReplicaProvisionedReadCapacityAutoScalingUpdate"]
        for index in replica.get("ReplicaGlobalSecondaryIndexUpdates") or []:
            yield from index_update(table, index, READ)


def index_update(table: str, update: Wire, kind: str) -> Iterator[Asked]:
    member = f"Provisioned{kind}CapacityAutoScalingUpdate"
    if "IndexName" not in update:
        raise invalid("IndexName is required to update the auto scaling of a global secondary index")
    if member in update:
        yield Resource(table, update["IndexName"], kind), update[member]


def check_table(table: TableDefinition, asked: list[Asked]) -> None:
    if table.billing_mode != PROVISIONED:
        raise invalid("Auto scaling can only be configured for tables with BillingMode PROVISIONED")
    names = {index.name for index in table.global_indexes}
    for resource, _ in asked:
        if resource.index is not None and resource.index not in names:
            raise ResourceNotFoundException(
                f"Requested resource not found: Index {resource.index} for table {table.name}"
            )
    if len({resource for resource, _ in asked}) != len(asked):
        raise invalid("Only one auto scaling update is allowed for each capacity")


def updated(target: ScalableTarget, update: Wire, now_micros: int) -> ScalableTarget:
    """A target with what an AutoScalingSettingsUpdate says. A policy takes the place of one with another name."""
    minimum, maximum = update.get("MinimumUnits", target.minimum), update.get("MaximumUnits", target.maximum)
    if not minimum or not maximum:
        raise invalid("MinimumUnits and MaximumUnits are required to enable auto scaling")
    target = bounded(target, minimum, maximum)
    wanted = update.get("ScalingPolicyUpdate")
    if wanted is None:
        return target
    configuration = wanted["TargetTrackingScalingPolicyConfiguration"]
    resource = target.resource
    tracking = Tracking(
        name=wanted.get("PolicyName") or f"{resource.utilization}:{resource.id}",
        target_percent=configuration["TargetValue"],
        scale_out_cooldown_seconds=configuration.get("ScaleOutCooldown"),
        scale_in_cooldown_seconds=configuration.get("ScaleInCooldown"),
        disable_scale_in=configuration.get("DisableScaleIn"),
    )
    return tracked(target, tracking, now_micros)


OPERATION = Operation(name="UpdateTableReplicaAutoScaling", run=update_table_replica_auto_scaling)
