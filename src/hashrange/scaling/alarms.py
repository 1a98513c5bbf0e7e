"""The CloudWatch alarms of a policy: two that scale, two that notice when somebody else changes the capacity.

They are there to be looked at. The controller does not wait for them: it does the same arithmetic itself.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hashrange.metrics.alarms import BREACHING, MISSING, Alarm, configured, find, remove
from hashrange.metrics.alarms import save as save_alarm
from hashrange.metrics.reading import Ask
from hashrange.scaling.controller import ALARM_HIGH, ALARM_LOW, IN_MINUTES, OUT_MINUTES, low_percent, threshold
from hashrange.scaling.resource import Resource
from hashrange.scaling.target import Mutation, Policy, ScalableTarget
from hashrange.storage.interface import Snapshot

PROVISIONED_HIGH = "ProvisionedCapacityHigh"
PROVISIONED_LOW = "ProvisionedCapacityLow"
PURPOSES = (ALARM_HIGH, ALARM_LOW, PROVISIONED_HIGH, PROVISIONED_LOW)

ABOVE, BELOW = "GreaterThanThreshold", "LessThanThreshold"
CONSUMED_SECONDS = 60
PROVISIONED_SECONDS = 300
PROVISIONED_PERIODS = 3


def new_names(resource: Resource) -> dict[str, str]:
    """Names for the alarms of a new policy, by their purpose."""
    return {purpose: f"TargetTracking-{resource.id}-{purpose}-{uuid.uuid4()}" for purpose in PURPOSES}


def arn_of(target: ScalableTarget, name: str) -> str:
    return f"arn:aws:cloudwatch:{target.region}:{target.account}:alarm:{name}"


def made_for(snapshot: Snapshot, target: ScalableTarget, provisioned: int, now_micros: int) -> list[Mutation]:
    """Make the alarms of a target's policy, or move their thresholds to the capacity that there is now."""
    mutations: list[Mutation] = []
    for alarm in _alarms(target, provisioned, now_micros):
        old = find(snapshot, target.scope, alarm.name)
        if old is not None:
            alarm = replace(old, threshold=alarm.threshold, updated_at_micros=now_micros)
        mutations += [save_alarm(target.scope, alarm), *configured(snapshot, target.scope, old, alarm, now_micros)]
    return mutations


def removed_with(snapshot: Snapshot, target: ScalableTarget) -> list[Mutation]:
    """Remove the alarms of a target's policy, if it has one."""
    names = () if target.policy is None else target.policy.alarms.values()
    return [mutation for name in names for mutation in remove(snapshot, target.scope, name)]


def _alarms(target: ScalableTarget, provisioned: int, now_micros: int) -> Iterator[Alarm]:
    policy = target.policy
    if policy is None:
        return
    for purpose, name in policy.alarms.items():
        yield Alarm.on_metric(
            name,
            now_micros=now_micros,
            description=f"DO NOT EDIT OR DELETE. For TargetTrackingScaling policy {target.policy_arn(policy)}.",
            alarm_actions=(target.policy_arn(policy),),
            **_watched(purpose, target.resource, policy, provisioned),
        )


def _watched(purpose: str, resource: Resource, policy: Policy, provisioned: int) -> dict[str, Any]:
    """What an alarm watches. Where nothing was consumed nothing was measured either, and that is little too."""
    if purpose in (PROVISIONED_HIGH, PROVISIONED_LOW):
        return {
            "ask": _ask(f"Provisioned{resource.kind}CapacityUnits", resource, "Average", PROVISIONED_SECONDS),
            "threshold": float(provisioned),
            "comparison": ABOVE if purpose == PROVISIONED_HIGH else BELOW,
            "evaluation_periods": PROVISIONED_PERIODS,
        }
    high = purpose == ALARM_HIGH
    percent = policy.target_percent if high else low_percent(policy.target_percent)
    return {
        "ask": _ask(f"Consumed{resource.kind}CapacityUnits", resource, "Sum", CONSUMED_SECONDS),
        "threshold": threshold(percent, provisioned),
        "comparison": ABOVE if high else BELOW,
        "evaluation_periods": OUT_MINUTES if high else IN_MINUTES,
        "missing_data": MISSING if high else BREACHING,
    }


def _ask(metric: str, resource: Resource, statistic: str, period_seconds: int) -> Ask:
    return Ask(metric, resource.metric_dimensions, period_seconds, statistic)
