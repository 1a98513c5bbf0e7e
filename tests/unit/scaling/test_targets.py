"""Scalable targets: what can be registered, what its bounds do, and how it goes."""

from __future__ import annotations

from functools import partial

import pytest

from harness import expect
from hashrange.engine.database import DatabaseSettings
from unit.scaling.conftest import HOUR, MINUTE, Scaled, Wire, throughput

UNSUPPORTED = "Unsupported service namespace, resource type or scalable dimension"
NOT_REGISTERED = (
    "No scalable target registered for service namespace: dynamodb, resource ID: table/orders, "
    "scalable dimension: dynamodb:table:ReadCapacityUnits"
)


def test_a_target_is_described_as_it_was_registered(scaled: Scaled) -> None:
    arn = scaled.register(5, 100)["ScalableTargetARN"]
    (target,) = scaled.call("DescribeScalableTargets", {})["ScalableTargets"]
    assert target == {
        "ServiceNamespace": "dynamodb",
        **scaled.reads,
        "MinCapacity": 5,
        "MaxCapacity": 100,
        "RoleARN": "arn:aws:iam::000000000000:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"
        "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable",
        "CreationTime": scaled.clock.seconds(),
        "SuspendedState": {
            "DynamicScalingInSuspended": False,
            "DynamicScalingOutSuspended": False,
            "ScheduledScalingSuspended": False,
        },
        "ScalableTargetARN": arn,
    }
    assert arn.startswith("arn:aws:application-autoscaling:us-east-1:000000000000:scalable-target/")


def test_registering_again_changes_what_is_mentioned_and_keeps_the_rest(scaled: Scaled) -> None:
    arn = scaled.register(5, 100)["ScalableTargetARN"]
    assert scaled.call("RegisterScalableTarget", MaxCapacity=50)["ScalableTargetARN"] == arn
    scaled.call("RegisterScalableTarget", SuspendedState={"DynamicScalingInSuspended": True})
    (target,) = scaled.call("DescribeScalableTargets", {})["ScalableTargets"]
    assert (target["MinCapacity"], target["MaxCapacity"]) == (5, 50)
    assert target["SuspendedState"]["DynamicScalingInSuspended"] is True


@pytest.mark.parametrize(
    ("resource_id", "dimension"),
    [
        ("orders", "dynamodb:table:ReadCapacityUnits"),
        ("table/orders", "dynamodb:index:ReadCapacityUnits"),
        ("table/orders/index/by-owner", "dynamodb:table:ReadCapacityUnits"),
        ("table/orders", "ecs:service:DesiredCount"),
    ],
)
def test_a_resource_and_a_dimension_must_belong_together(scaled: Scaled, resource_id: str, dimension: str) -> None:
    resource = {"ResourceId": resource_id, "ScalableDimension": dimension}
    expect("ValidationException", UNSUPPORTED, lambda: scaled.register(1, 2, resource))


@pytest.mark.parametrize(
    ("resource_id", "message"),
    [
        ("table/nothing", "DynamoDB table does not exist: table/nothing"),
        ("table/orders/index/nothing", "DynamoDB index does not exist: table/orders/index/nothing"),
    ],
)
def test_what_does_not_exist_cannot_be_registered(scaled: Scaled, resource_id: str, message: str) -> None:
    kind = "index" if "index" in resource_id else "table"
    resource = {"ResourceId": resource_id, "ScalableDimension": f"dynamodb:{kind}:ReadCapacityUnits"}
    expect("ValidationException", message, lambda: scaled.register(1, 2, resource))


def test_an_on_demand_table_has_nothing_to_scale(scaled: Scaled) -> None:
    scaled.engine.call("UpdateTable", TableName="orders", BillingMode="PAY_PER_REQUEST")
    message = "DynamoDB table does not have provisioned capacity: table/orders"
    expect("ValidationException", message, lambda: scaled.register(1, 2))


def test_bounds_are_checked(scaled: Scaled) -> None:
    message = "Maximum capacity cannot be less than minimum capacity"
    expect("ValidationException", message, lambda: scaled.register(6, 5))
    message = "MinCapacity and MaxCapacity are required to register a new scalable target"
    expect("ValidationException", message, lambda: scaled.call("RegisterScalableTarget", MaxCapacity=5))
    error = expect(
        "ValidationException",
        "1 validation error detected: Value 'dynamo' at 'serviceNamespace' failed to satisfy constraint: Member must "
        "satisfy enum value set: [ecs, elasticmapreduce, ec2, appstream, dynamodb, rds, sagemaker, custom-resource, "
        "comprehend, lambda, cassandra, kafka, elasticache, neptune, workspaces]",
        lambda: scaled.call("DescribeScalableTargets", {"ServiceNamespace": "dynamo"}),
    )
    assert sorted(error.body) == ["Message", "__type"]
    assert error.body["__type"] == "ValidationException"


def test_the_capacity_is_brought_between_the_bounds_at_once(scaled: Scaled) -> None:
    scaled.register(20, 100)
    scaled.run()
    assert scaled.capacity() == 20
    scaled.clock.advance(1)
    scaled.register(1, 5)
    scaled.run()
    assert scaled.capacity() == 5
    last, first = scaled.activities()
    assert (first["Cause"], last["Cause"]) == ("minimum capacity was set to 20", "maximum capacity was set to 5")
    assert last == {
        "ActivityId": last["ActivityId"],
        "ServiceNamespace": "dynamodb",
        **scaled.reads,
        "Description": "Setting read capacity units to 5.",
        "Cause": "maximum capacity was set to 5",
        "StartTime": scaled.clock.seconds(),
        "EndTime": scaled.clock.seconds(),
        "StatusCode": "Successful",
        "StatusMessage": "Successfully set read capacity units to 5. Change successfully fulfilled by dynamodb.",
    }


def test_a_manual_change_below_the_minimum_is_left_alone(scaled: Scaled) -> None:
    scaled.register(10, 100)
    scaled.run()
    scaled.engine.call("UpdateTable", TableName="orders", ProvisionedThroughput=throughput(3, 10))
    scaled.clock.advance(HOUR)
    scaled.run()
    assert scaled.capacity() == 3


def test_a_capacity_within_the_bounds_is_left_alone(scaled: Scaled) -> None:
    scaled.register(10, 10)
    scaled.run()
    assert scaled.activities() == []
    assert scaled.described()["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0


def test_capacities_of_one_table_that_are_due_together_do_not_undo_each_other(scaled: Scaled) -> None:
    for resource in (scaled.reads, scaled.writes, scaled.index_reads):
        scaled.register(20, 100, resource)
    scaled.run()
    assert (scaled.capacity(), scaled.capacity("Write"), scaled.index_capacity()) == (20, 20, 20)


def test_while_a_table_is_updating_its_other_capacities_wait() -> None:
    scaled = Scaled(DatabaseSettings(table_delay_micros=2_000_000))
    for resource in (scaled.reads, scaled.writes, scaled.index_reads):
        scaled.register(20, 100, resource)
    scaled.run()
    assert [activity["StatusCode"] for activity in scaled.activities()] == ["InProgress"]
    assert "Waiting for change to be fulfilled" in scaled.activities()[0]["StatusMessage"]
    for _ in range(4):
        scaled.clock.advance(6)
        scaled.run()
    assert (scaled.capacity(), scaled.capacity("Write"), scaled.index_capacity()) == (20, 20, 20)
    assert scaled.index_capacity("Write") == 10
    assert {activity["StatusCode"] for activity in scaled.activities()} == {"Successful"}


def test_what_is_not_registered_is_not_found(scaled: Scaled) -> None:
    expect("ObjectNotFoundException", NOT_REGISTERED, lambda: scaled.call("DeregisterScalableTarget"))
    expect("ObjectNotFoundException", NOT_REGISTERED, scaled.track)


def test_deregistering_forgets_the_policy_and_the_schedule(scaled: Scaled) -> None:
    scaled.register(1, 100)
    scaled.track()
    action = {"MinCapacity": 50}
    scaled.call("PutScheduledAction", ScheduledActionName="a", Schedule="rate(1 hour)", ScalableTargetAction=action)
    assert scaled.call("DeregisterScalableTarget") == {}
    scaled.clock.advance(2 * HOUR)
    scaled.run()
    assert scaled.capacity() == 10
    scaled.register(1, 100)
    assert scaled.call("DescribeScalingPolicies", {})["ScalingPolicies"] == []
    assert scaled.call("DescribeScheduledActions", {})["ScheduledActions"] == []


def test_targets_outlive_their_table_and_serve_its_successor(scaled: Scaled) -> None:
    scaled.register(20, 100)
    scaled.run()
    scaled.track()
    scaled.engine.call("DeleteTable", TableName="orders")
    scaled.clock.advance(HOUR)
    scaled.run()
    assert len(scaled.call("DescribeScalableTargets", {})["ScalableTargets"]) == 1
    scaled.engine.create_table("orders", BillingMode="PROVISIONED", ProvisionedThroughput=throughput(20, 1))
    assert scaled.pass_minutes([20, 20]) == [20, 29]


def test_accounts_and_regions_do_not_see_each_other(scaled: Scaled) -> None:
    scaled.register(1, 100)
    describe = partial(
        scaled.engine.call, "AnyScaleFrontendService.DescribeScalableTargets", ServiceNamespace="dynamodb"
    )
    assert describe(region="eu-west-1")["ScalableTargets"] == []
    assert describe(key="123456789012")["ScalableTargets"] == []


def test_lists_come_in_pages_and_can_be_narrowed(scaled: Scaled) -> None:
    for resource in (scaled.reads, scaled.writes, scaled.index_reads):
        scaled.register(1, 100, resource)
    first = scaled.call("DescribeScalableTargets", {"MaxResults": 2})
    second = scaled.call("DescribeScalableTargets", {"NextToken": first["NextToken"]})
    found = [target["ScalableDimension"] for page in (first, second) for target in page["ScalableTargets"]]
    assert sorted(found) == sorted(
        each["ScalableDimension"] for each in (scaled.reads, scaled.writes, scaled.index_reads)
    )
    assert "NextToken" not in second
    narrowed = scaled.call("DescribeScalableTargets", {"ResourceIds": ["table/orders/index/by-owner"]})
    assert [target["ResourceId"] for target in narrowed["ScalableTargets"]] == ["table/orders/index/by-owner"]
    expect(
        "InvalidNextTokenException",
        "Invalid token",
        lambda: scaled.call("DescribeScalableTargets", {"NextToken": "?"}),
    )


def test_activities_come_latest_first_in_pages_and_are_forgotten_after_six_weeks(scaled: Scaled) -> None:
    for minimum in (20, 30, 40):
        scaled.register(minimum, 100)
        scaled.run()
        scaled.clock.advance(MINUTE)
    pages: list[Wire] = [scaled.call("DescribeScalingActivities", {"MaxResults": 2})]
    pages.append(scaled.call("DescribeScalingActivities", {"NextToken": pages[0]["NextToken"]}))
    causes = [activity["Cause"] for page in pages for activity in page["ScalingActivities"]]
    assert causes == [f"minimum capacity was set to {units}" for units in (40, 30, 20)]
    scaled.clock.advance(42 * 24 * HOUR)
    assert scaled.activities() == []


def test_tags_of_targets(scaled: Scaled) -> None:
    arn = scaled.register(1, 100, Tags={"stage": "test"})["ScalableTargetARN"]
    call = scaled.engine.call
    call("AnyScaleFrontendService.TagResource", ResourceARN=arn, Tags={"team": "one"})
    call("AnyScaleFrontendService.UntagResource", ResourceARN=arn, TagKeys=["stage", "none"])
    assert call("AnyScaleFrontendService.ListTagsForResource", ResourceARN=arn) == {"Tags": {"team": "one"}}
    other = arn[:-1] + "-"
    expect(
        "ResourceNotFoundException",
        f"No scalable target found for ARN: {other}",
        lambda: call("AnyScaleFrontendService.ListTagsForResource", ResourceARN=other),
    )
