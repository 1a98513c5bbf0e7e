"""UpdateTableReplicaAutoScaling: the same targets and policies, in DynamoDB's own words."""

from __future__ import annotations

from typing import Any

from harness import expect
from unit.scaling.conftest import Scaled


def update(scaled: Scaled, **members: Any) -> Any:
    answer = scaled.engine.call("UpdateTableReplicaAutoScaling", TableName="orders", **members)
    return answer["TableAutoScalingDescription"]


def settings(minimum: int, maximum: int, percent: float | None = None, **policy: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"MinimumUnits": minimum, "MaximumUnits": maximum}
    if percent is not None:
        found["ScalingPolicyUpdate"] = {
            "TargetTrackingScalingPolicyConfiguration": {"TargetValue": percent},
            **policy,
        }
    return found


def reads(region: str = "us-east-1", **members: Any) -> list[dict[str, Any]]:
    return [{"RegionName": region, **members}]


def test_a_table_without_auto_scaling_says_so(scaled: Scaled) -> None:
    described = scaled.engine.call("DescribeTableReplicaAutoScaling", TableName="orders")
    off = {"AutoScalingDisabled": True}
    assert described["TableAutoScalingDescription"] == {
        "TableName": "orders",
        "TableStatus": "ACTIVE",
        "Replicas": [
            {
                "RegionName": "us-east-1",
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "by-owner",
                        "IndexStatus": "ACTIVE",
                        "ProvisionedReadCapacityAutoScalingSettings": off,
                        "ProvisionedWriteCapacityAutoScalingSettings": off,
                    }
                ],
                "ReplicaProvisionedReadCapacityAutoScalingSettings": off,
                "ReplicaProvisionedWriteCapacityAutoScalingSettings": off,
                "ReplicaStatus": "ACTIVE",
            }
        ],
    }


def test_writes_of_the_table_and_reads_of_its_replica_are_scaled(scaled: Scaled) -> None:
    described = update(
        scaled,
        ProvisionedWriteCapacityAutoScalingUpdate=settings(20, 200, 50),
        ReplicaUpdates=reads(ReplicaProvisionedReadCapacityAutoScalingUpdate=settings(5, 100, 70, PolicyName="mine")),
        GlobalSecondaryIndexUpdates=[
            {"IndexName": "by-owner", "ProvisionedWriteCapacityAutoScalingUpdate": settings(30, 40)}
        ],
    )
    replica = described["Replicas"][0]
    writes = replica["ReplicaProvisionedWriteCapacityAutoScalingSettings"]
    assert (writes["MinimumUnits"], writes["MaximumUnits"]) == (20, 200)
    assert writes["ScalingPolicies"] == [
        {
            "PolicyName": "DynamoDBWriteCapacityUtilization:table/orders",
            "TargetTrackingScalingPolicyConfiguration": {"TargetValue": 50},
        }
    ]
    assert replica["ReplicaProvisionedReadCapacityAutoScalingSettings"]["ScalingPolicies"][0]["PolicyName"] == "mine"
    assert scaled.engine.call("DescribeTableReplicaAutoScaling", TableName="orders") == {
        "TableAutoScalingDescription": described
    }
    scaled.run()
    assert (scaled.capacity("Write"), scaled.index_capacity("Write"), scaled.capacity()) == (20, 30, 10)
    assert scaled.pass_minutes([14, 14, 14])[-1] == 20


def test_both_services_see_the_same(scaled: Scaled) -> None:
    scaled.register(5, 100)
    scaled.track(60, name="mine")
    policy = {"PolicyName": "other", "TargetTrackingScalingPolicyConfiguration": {"TargetValue": 80}}
    change = {"ScalingPolicyUpdate": policy}
    update(scaled, ReplicaUpdates=reads(ReplicaProvisionedReadCapacityAutoScalingUpdate=change))
    (found,) = scaled.call("DescribeScalingPolicies", {})["ScalingPolicies"]
    assert found["PolicyName"] == "other"  # a new name takes the old one's place
    (target,) = scaled.call("DescribeScalableTargets", {})["ScalableTargets"]
    assert (target["MinCapacity"], target["MaxCapacity"]) == (5, 100)


def test_auto_scaling_can_be_disabled(scaled: Scaled) -> None:
    scaled.register(5, 100)
    off = {"AutoScalingDisabled": True}
    described = update(scaled, ReplicaUpdates=reads(ReplicaProvisionedReadCapacityAutoScalingUpdate=off))
    assert described["Replicas"][0]["ReplicaProvisionedReadCapacityAutoScalingSettings"] == off
    assert scaled.call("DescribeScalableTargets", {})["ScalableTargets"] == []


def test_what_cannot_be_updated(scaled: Scaled) -> None:
    expect(
        "ResourceNotFoundException",
        "Requested resource not found: Table: nothing not found",
        lambda: scaled.engine.call("DescribeTableReplicaAutoScaling", TableName="nothing"),
    )
    prefix = "One or more parameter values were invalid: "
    expect(
        "ValidationException",
        f"{prefix}Table orders has no replica in region: eu-west-1",
        lambda: update(scaled, ReplicaUpdates=reads("eu-west-1")),
    )
    unknown = [{"IndexName": "none", "ProvisionedWriteCapacityAutoScalingUpdate": settings(1, 2)}]
    expect(
        "ResourceNotFoundException",
        "Requested resource not found: Index none for table orders",
        lambda: update(scaled, GlobalSecondaryIndexUpdates=unknown),
    )
    expect(
        "ValidationException",
        f"{prefix}MinimumUnits and MaximumUnits are required to enable auto scaling",
        lambda: update(scaled, ProvisionedWriteCapacityAutoScalingUpdate={"MaximumUnits": 5}),
    )
    scaled.engine.call("UpdateTable", TableName="orders", BillingMode="PAY_PER_REQUEST")
    expect(
        "ValidationException",
        f"{prefix}Auto scaling can only be configured for tables with BillingMode PROVISIONED",
        lambda: update(scaled, ProvisionedWriteCapacityAutoScalingUpdate=settings(1, 2)),
    )
