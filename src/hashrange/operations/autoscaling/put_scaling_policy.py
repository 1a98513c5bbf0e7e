"""PutScalingPolicy: keep the consumption of a capacity at a part of it, by moving the capacity."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.errors import ValidationException
from hashrange.operations.autoscaling.describe_scaling_policies import described_alarms
from hashrange.operations.autoscaling.lookup import SERVICE, registered_target
from hashrange.operations.operation import Operation, Request, Write
from hashrange.scaling.capacity import scaled_table
from hashrange.scaling.registration import Tracking, save_registered, tracked
from hashrange.scaling.resource import Resource
from hashrange.scaling.target import ScalableTarget
from hashrange.storage.interface import Plan, Snapshot

TARGET_TRACKING = "TargetTrackingScaling"
CONFIGURATION = "TargetTrackingScalingPolicyConfiguration"


def put_scaling_policy(db: Database, request: Request) -> Write:
    def plan(snapshot: Snapshot) -> Plan:
        old = registered_target(snapshot, request)
        check_kind(request, old)
        wanted = tracking(request["PolicyName"], request.get(CONFIGURATION), old.resource)
        if old.policy is not None and old.policy.name != wanted.name:
            raise ValidationException(
                "Only one TargetTrackingScaling policy for a given metric specification is allowed."
            )
        target = tracked(old, wanted, db.clock.micros())
        table = scaled_table(db, snapshot, request.scope, target.resource)
        return Plan(save_registered(db, snapshot, table, target, old), answer=answer(target))

    return Write(plan)


def check_kind(request: Request, target: ScalableTarget) -> None:
    """DynamoDB has target tracking only. A new policy has to name it, since the default is another kind."""
    is_known = target.policy is not None and target.policy.name == request["PolicyName"]
    kind = request.get("PolicyType", TARGET_TRACKING if is_known else "StepScaling")
    if kind != TARGET_TRACKING:
        raise ValidationException(f"Unsupported policy type: {kind} for service namespace: dynamodb")


def tracking(name: str, configuration: dict[str, Any] | None, resource: Resource) -> Tracking:
    """What a configuration asks for."""
    if configuration is None:
        raise ValidationException(f"{CONFIGURATION} is required for policy type {TARGET_TRACKING}")
    if "CustomizedMetricSpecification" in configuration:
        raise ValidationException("CustomizedMetricSpecification is not supported by this server")
    metric = configuration.get("PredefinedMetricSpecification")
    if metric is None:
        raise ValidationException("PredefinedMetricSpecification must be specified")
    if metric["PredefinedMetricType"] != resource.utilization:
        raise ValidationException(
            f"Unsupported predefined metric type: {metric['PredefinedMetricType']} "
            f"for scalable dimension: {resource.dimension}"
        )
    return Tracking(
        name=name,
        target_percent=configuration["TargetValue"],
        scale_out_cooldown_seconds=configuration.get("ScaleOutCooldown"),
        scale_in_cooldown_seconds=configuration.get("ScaleInCooldown"),
        disable_scale_in=configuration.get("DisableScaleIn"),
        resource_label=metric.get("ResourceLabel"),
    )


def answer(target: ScalableTarget) -> dict[str, Any]:
    assert target.policy is not None
    return {"PolicyARN": target.policy_arn(target.policy), "Alarms": described_alarms(target)}


OPERATION = Operation(name="PutScalingPolicy", run=put_scaling_policy, service=SERVICE)
