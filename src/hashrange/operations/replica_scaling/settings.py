"""Auto scaling of a table as DynamoDB's own operations speak of it: the same targets and policies, in other words.

A table here has one replica, the table itself, in the region that was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hashrange.engine.definition import TableDefinition
from hashrange.engine.scope import Scope
from hashrange.engine.usage import READ, WRITE
from hashrange.scaling.resource import Resource
from hashrange.scaling.target import ScalableTarget, find_target
from hashrange.storage.interface import Snapshot

Found = Mapping[Resource, ScalableTarget | None]


def resources_of(table: TableDefinition) -> Iterator[Resource]:
    """Everything about a table that can be scaled."""
    for index in (None, *(index.name for index in table.global_indexes)):
        for kind in (READ, WRITE):
            yield Resource(table.name, index, kind)


def targets_of(snapshot: Snapshot, scope: Scope, table: TableDefinition) -> dict[Resource, ScalableTarget | None]:
    return {resource: find_target(snapshot, scope, resource) for resource in resources_of(table)}


def describe(table: TableDefinition, found: Found) -> dict[str, Any]:
    """TableAutoScalingDescription."""
    replica: dict[str, Any] = {
        "RegionName": table.region,
        "GlobalSecondaryIndexes": [
            {
                "IndexName": index.name,
                "IndexStatus": index.status,
                **described(found, table.name, index.name, "Provisioned{}CapacityAutoScalingSettings"),
            }
            for index in table.global_indexes
        ],
        **described(found, table.name, None, "ReplicaProvisioned{}CapacityAutoScalingSettings"),
        "ReplicaStatus": table.status,
    }
    return {"TableName": table.name, "TableStatus": table.status, "Replicas": [replica]}


def described(found: Found, table: str, index: str | None, member: str) -> dict[str, Any]:
    return {member.format(kind): settings(found.get(Resource(table, index, kind))) for kind in (READ, WRITE)}


def settings(target: ScalableTarget | None) -> dict[str, Any]:
    if target is None:
        return {"AutoScalingDisabled": True}
    return {
        "MinimumUnits": target.minimum,
        "MaximumUnits": target.maximum,
        "AutoScalingRoleArn": target.role_arn,
        "ScalingPolicies": [] if target.policy is None else [policy(target)],
    }


def policy(target: ScalableTarget) -> dict[str, Any]:
    assert target.policy is not None
    tracking = target.policy
    members = {
        "DisableScaleIn": tracking.disable_scale_in,
        "ScaleInCooldown": tracking.scale_in_cooldown_seconds,
        "ScaleOutCooldown": tracking.scale_out_cooldown_seconds,
        "TargetValue": tracking.target_percent,
    }
    given = {name: value for name, value in members.items() if value is not None}
    return {"PolicyName": tracking.name, "TargetTrackingScalingPolicyConfiguration": given}
