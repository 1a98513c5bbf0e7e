"""DescribeScalingPolicies: how capacities are scaled, and by which alarms."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.operations.autoscaling.lookup import SERVICE, after_token, answered, is_asked_for, page, seconds
from hashrange.operations.operation import Operation, Request
from hashrange.scaling import alarms
from hashrange.scaling.target import Policy, ScalableTarget, targets


def describe_scaling_policies(db: Database, request: Request) -> dict[str, Any]:
    last = after_token(request) or b""
    names = request.get("PolicyNames") or ()
    with db.read() as snapshot:
        found, token = page(
            request,
            (
                (target.key, describe(target, target.policy))
                for target in targets(snapshot, request.scope)
                if target.key > last
                and target.policy is not None
                and is_asked_for(request, target.resource)
                and (not names or target.policy.name in names)
            ),
        )
    return answered("ScalingPolicies", found, token)


def describe(target: ScalableTarget, policy: Policy) -> dict[str, Any]:
    return {
        "PolicyARN": target.policy_arn(policy),
        "PolicyName": policy.name,
        "ServiceNamespace": "dynamodb",
        "ResourceId": target.resource.id,
        "ScalableDimension": target.resource.dimension,
        "PolicyType": "TargetTrackingScaling",
        "TargetTrackingScalingPolicyConfiguration": configuration(target, policy),
        "Alarms": described_alarms(target),
        "CreationTime": seconds(policy.created_at_micros),
    }


def configuration(target: ScalableTarget, policy: Policy) -> dict[str, Any]:
    """The configuration as it was given."""
    metric = {"PredefinedMetricType": target.resource.utilization, "ResourceLabel": policy.resource_label}
    members = {
        "TargetValue": policy.target_percent,
        "PredefinedMetricSpecification": {name: value for name, value in metric.items() if value is not None},
        "ScaleOutCooldown": policy.scale_out_cooldown_seconds,
        "ScaleInCooldown": policy.scale_in_cooldown_seconds,
        "DisableScaleIn": policy.disable_scale_in,
    }
    return {name: value for name, value in members.items() if value is not None}


def described_alarms(target: ScalableTarget) -> list[dict[str, str]]:
    names = () if target.policy is None else target.policy.alarms.values()
    return [{"AlarmName": name, "AlarmARN": alarms.arn_of(target, name)} for name in names]


OPERATION = Operation(name="DescribeScalingPolicies", run=describe_scaling_policies, service=SERVICE)
