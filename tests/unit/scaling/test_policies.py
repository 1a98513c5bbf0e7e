"""Policies: when a capacity moves, how far, and what holds it back."""

from __future__ import annotations

import pytest

from harness import expect
from unit.scaling.conftest import DAY, HOUR, MINUTE, Scaled, throughput

NEVER_ALONE = "Only one TargetTrackingScaling policy for a given metric specification is allowed."


@pytest.fixture
def tracked(scaled: Scaled) -> Scaled:
    """Ten units, between 5 and 100, of which 70 % are to be consumed."""
    scaled.register(5, 100)
    scaled.track(70)
    scaled.clock.advance(-scaled.clock.seconds() % MINUTE + 10)
    scaled.run()
    return scaled


def test_a_policy_is_described_as_it_was_put(scaled: Scaled) -> None:
    scaled.register(1, 100)
    put = scaled.track(50, ScaleOutCooldown=60, ScaleInCooldown=30, DisableScaleIn=True)
    (policy,) = scaled.call("DescribeScalingPolicies", {})["ScalingPolicies"]
    assert policy == {
        "PolicyARN": put["PolicyARN"],
        "PolicyName": "policy",
        "ServiceNamespace": "dynamodb",
        **scaled.reads,
        "PolicyType": "TargetTrackingScaling",
        "TargetTrackingScalingPolicyConfiguration": {
            "PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBReadCapacityUtilization"},
            "TargetValue": 50,
            "ScaleOutCooldown": 60,
            "ScaleInCooldown": 30,
            "DisableScaleIn": True,
        },
        "Alarms": put["Alarms"],
        "CreationTime": scaled.clock.seconds(),
    }
    assert put["PolicyARN"].endswith(":resource/dynamodb/table/orders:policyName/policy")
    assert [alarm["AlarmName"].split("-")[2] for alarm in put["Alarms"]] == [
        "AlarmHigh",
        "AlarmLow",
        "ProvisionedCapacityHigh",
        "ProvisionedCapacityLow",
    ]


def test_putting_a_policy_again_changes_it_and_another_name_is_refused(scaled: Scaled) -> None:
    scaled.register(1, 100)
    first = scaled.track(50)
    assert scaled.track(60) == first
    (policy,) = scaled.call("DescribeScalingPolicies", {"PolicyNames": ["policy"]})["ScalingPolicies"]
    assert policy["TargetTrackingScalingPolicyConfiguration"]["TargetValue"] == 60
    expect("ValidationException", NEVER_ALONE, lambda: scaled.track(name="other"))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"PolicyType": "StepScaling"}, "Unsupported policy type: StepScaling for service namespace: dynamodb"),
        ({}, "Unsupported policy type: StepScaling for service namespace: dynamodb"),
        (
            {"PolicyType": "TargetTrackingScaling"},
            "TargetTrackingScalingPolicyConfiguration is required for policy type TargetTrackingScaling",
        ),
    ],
)
def test_only_target_tracking_is_known(scaled: Scaled, members: dict[str, str], message: str) -> None:
    scaled.register(1, 100)
    expect("ValidationException", message, lambda: scaled.call("PutScalingPolicy", PolicyName="p", **members))


def test_the_metric_must_be_that_of_the_dimension(scaled: Scaled) -> None:
    scaled.register(1, 100)
    metric = {"PredefinedMetricType": "DynamoDBWriteCapacityUtilization"}
    expect(
        "ValidationException",
        "Unsupported predefined metric type: DynamoDBWriteCapacityUtilization "
        "for scalable dimension: dynamodb:table:ReadCapacityUnits",
        lambda: scaled.track(PredefinedMetricSpecification=metric),
    )
    custom = {"MetricName": "m", "Namespace": "n", "Statistic": "Sum"}
    expect(
        "ValidationException",
        "CustomizedMetricSpecification is not supported by this server",
        lambda: scaled.track(CustomizedMetricSpecification=custom),
    )


def test_two_busy_minutes_scale_out_to_what_the_last_one_needs(tracked: Scaled) -> None:
    assert tracked.pass_minutes([9, 14]) == [10, 20]
    (activity,) = tracked.activities()
    assert activity["Description"] == "Setting read capacity units to 20."
    assert activity["Cause"].startswith("monitor alarm TargetTracking-table/orders-AlarmHigh-")
    assert activity["Cause"].endswith(" in state ALARM triggered policy policy")


def test_one_busy_minute_and_exactly_the_target_are_not_enough(tracked: Scaled) -> None:
    assert tracked.pass_minutes([50, 1, 50, 7, 50, 7, 7, 7]) == [10] * 8


def test_the_maximum_holds(tracked: Scaled) -> None:
    assert tracked.pass_minutes([500, 500, 500]) == [10, 100, 100]
    assert len(tracked.activities()) == 1


def test_fifteen_quiet_minutes_scale_in_to_what_the_busiest_of_them_needs(tracked: Scaled) -> None:
    assert tracked.pass_minutes([4] * 13 + [4.2, 4]) == [10] * 14 + [6]
    assert "AlarmLow" in tracked.activities()[0]["Cause"]


def test_a_busier_minute_among_the_quiet_ones_keeps_the_capacity(tracked: Scaled) -> None:
    assert tracked.pass_minutes(([4] * 14 + [5]) * 3) == [10] * 45


def test_a_table_nobody_uses_goes_to_its_minimum_and_comes_back_to_it(tracked: Scaled) -> None:
    tracked.clock.advance(16 * MINUTE)
    tracked.run()
    assert tracked.capacity() == 5
    tracked.engine.call("UpdateTable", TableName="orders", ProvisionedThroughput=throughput(50, 10))
    tracked.clock.advance(90)
    tracked.run()
    assert tracked.capacity() == 5


def test_scaling_in_can_be_disabled(scaled: Scaled) -> None:
    scaled.register(5, 100)
    scaled.track(70, DisableScaleIn=True)
    assert scaled.pass_minutes([0] * 30) == [10] * 30
    assert scaled.pass_minutes([14, 14])[-1] == 20


def test_after_scaling_out_only_a_larger_step_follows_before_the_cooldown_is_over(scaled: Scaled) -> None:
    scaled.register(5, 1000)
    scaled.track(70, ScaleOutCooldown=600)
    assert scaled.pass_minutes([14, 14, 14])[-1] == 20
    assert scaled.pass_minutes([21, 21, 21, 21]) == [20] * 4  # ten more, as the step before
    assert scaled.pass_minutes([28]) == [40]  # twenty more
    assert scaled.pass_minutes([35] * 10) == [40] * 9 + [50]


def test_after_scaling_in_nothing_is_taken_away_before_the_cooldown_is_over(scaled: Scaled) -> None:
    scaled.register(1, 100)
    scaled.track(70, ScaleInCooldown=3600)
    assert scaled.pass_minutes([4.2] * 16)[-1] == 6
    assert scaled.pass_minutes([1] * 58)[-1] == 6
    assert scaled.pass_minutes([1] * 3)[-1] == 2


def test_scaling_out_ends_the_cooldown_of_scaling_in(scaled: Scaled) -> None:
    scaled.register(1, 100)
    scaled.track(70, ScaleInCooldown=DAY)
    scaled.pass_minutes([4.2] * 16)
    assert scaled.pass_minutes([14, 14])[-1] == 20
    assert scaled.pass_minutes([1] * 16)[-1] == 2


def test_what_is_suspended_does_not_happen(tracked: Scaled) -> None:
    suspended = {"DynamicScalingInSuspended": True, "DynamicScalingOutSuspended": True}
    tracked.call("RegisterScalableTarget", SuspendedState=suspended)
    assert set(tracked.pass_minutes([50] * 5 + [0] * 20)) == {10}
    tracked.call("RegisterScalableTarget", SuspendedState=dict.fromkeys(suspended, False))
    assert tracked.pass_minutes([0, 0])[-1] == 5


def test_a_deleted_policy_leaves_the_capacity_where_it_is(tracked: Scaled) -> None:
    tracked.call("DeleteScalingPolicy", PolicyName="policy")
    assert set(tracked.pass_minutes([50] * 5 + [0] * 20)) == {10}
    expect(
        "ObjectNotFoundException",
        "No scaling policy found for service namespace: dynamodb, resource ID: table/orders, "
        "scalable dimension: dynamodb:table:ReadCapacityUnits, policy name: policy",
        lambda: tracked.call("DeleteScalingPolicy", PolicyName="policy"),
    )


def test_an_index_is_scaled_by_its_own_consumption(scaled: Scaled) -> None:
    scaled.register(5, 100, scaled.index_reads)
    scaled.track(70, scaled.index_reads)
    scaled.pass_minutes([50] * 3)
    assert scaled.index_capacity() == 10
    scaled.pass_minutes([14] * 3, index="by-owner")
    assert (scaled.index_capacity(), scaled.index_capacity("Write"), scaled.capacity()) == (20, 10, 10)


def test_writes_are_scaled_by_writes(scaled: Scaled) -> None:
    scaled.register(5, 100, scaled.writes)
    scaled.track(70, scaled.writes)
    scaled.pass_minutes([50] * 3)
    assert scaled.capacity("Write") == 10
    scaled.pass_minutes([14] * 3, kind="Write")
    assert (scaled.capacity("Write"), scaled.capacity()) == (20, 10)


def test_a_decrease_that_the_day_does_not_allow_fails_once_and_is_made_when_it_is(tracked: Scaled) -> None:
    for read in (90, 80, 70, 60, 50):
        tracked.engine.call("UpdateTable", TableName="orders", ProvisionedThroughput=throughput(read, 10))
    assert tracked.described()["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 4
    capacities = tracked.pass_minutes([0] * 62)
    (made, refused) = tracked.activities()
    assert (refused["StatusCode"], made["StatusCode"]) == ("Failed", "Successful")
    assert refused["StatusMessage"].startswith(
        "Failed to set read capacity units to 5. Reason: Subscriber limit exceeded: Provisioned throughput decreases"
    )
    assert capacities[58:] == [50, 5, 5, 5]


def test_a_refused_decrease_does_not_stand_in_the_way_of_an_increase(tracked: Scaled) -> None:
    for read in (90, 80, 70, 60, 50):
        tracked.engine.call("UpdateTable", TableName="orders", ProvisionedThroughput=throughput(read, 10))
    assert tracked.pass_minutes([0] * 16 + [70, 70])[-3:] == [50, 50, 100]


def test_a_new_day_allows_what_the_old_one_did_not(scaled: Scaled) -> None:
    scaled.clock.advance(DAY - 20 * MINUTE)
    scaled.register(5, 100)
    scaled.track(70)
    for read in (90, 80, 70, 60, 50):
        scaled.engine.call("UpdateTable", TableName="orders", ProvisionedThroughput=throughput(read, 10))
    assert scaled.pass_minutes([0] * 20)[-2:] == [50, 5]


def test_more_than_a_table_may_have_fails_and_is_not_tried_every_minute(scaled: Scaled) -> None:
    scaled.register(5, 50_000)
    scaled.track(70)
    assert set(scaled.pass_minutes([40_000] * 6)) == {10}
    assert [activity["StatusCode"] for activity in scaled.activities()] == ["Failed"]
    assert "above the per table maximum" in scaled.activities()[0]["StatusMessage"]


def test_the_same_minutes_lead_to_the_same_capacities() -> None:
    traffic = [4, 9, 14, 30, 80, 2, 0, 0, 1, 15] * 12
    runs = []
    for _ in range(2):
        scaled = Scaled()
        scaled.register(5, 100)
        scaled.track(70, ScaleInCooldown=HOUR)
        runs.append(scaled.pass_minutes(traffic))
    assert runs[0] == runs[1]
