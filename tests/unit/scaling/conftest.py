"""A server with one table of provisioned capacity, whose consumption a test sets minute by minute."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from harness import Engine
from hashrange.engine.database import DatabaseSettings
from hashrange.engine.scope import scope_of
from hashrange.jobs.scale_tables import JOB
from hashrange.metrics.points import DYNAMODB, Measured, named
from hashrange.metrics.statistic import Statistic
from hashrange.storage import write_and_wait

SCOPE = scope_of("000000000000", "us-east-1")
MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR

Wire = dict[str, Any]


def throughput(read: int, write: int) -> dict[str, int]:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def index(name: str, read: int, write: int) -> Wire:
    return {
        "IndexName": name,
        "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        "ProvisionedThroughput": throughput(read, write),
    }


class Scaled:
    """The table `orders` with the index `by-owner`, at midnight."""

    def __init__(self, settings: DatabaseSettings | None = None) -> None:
        self.engine = Engine(settings=settings)
        self.clock = self.engine.clock
        self.clock.advance(-self.clock.seconds() % DAY)
        self.engine.create_table(
            "orders",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "owner")],
            BillingMode="PROVISIONED",
            ProvisionedThroughput=throughput(10, 10),
            GlobalSecondaryIndexes=[index("by-owner", 10, 10)],
        )
        self.clock.advance(10)  # and the table is ready

    def call(self, operation: str, resource: Wire | None = None, **members: Any) -> Any:
        """One request to Application Auto Scaling."""
        wanted = {"ServiceNamespace": "dynamodb", **(self.reads if resource is None else resource), **members}
        return self.engine.call(f"AnyScaleFrontendService.{operation}", **wanted)

    reads: Wire = {"ResourceId": "table/orders", "ScalableDimension": "dynamodb:table:ReadCapacityUnits"}
    writes: Wire = {"ResourceId": "table/orders", "ScalableDimension": "dynamodb:table:WriteCapacityUnits"}
    index_reads: Wire = {
        "ResourceId": "table/orders/index/by-owner",
        "ScalableDimension": "dynamodb:index:ReadCapacityUnits",
    }

    def register(self, minimum: int, maximum: int, resource: Wire | None = None, **members: Any) -> Any:
        return self.call("RegisterScalableTarget", resource, MinCapacity=minimum, MaxCapacity=maximum, **members)

    def track(self, percent: float = 70, resource: Wire | None = None, name: str = "policy", **members: Any) -> Any:
        kind = "Write" if "Write" in (resource or self.reads)["ScalableDimension"] else "Read"
        metric = {"PredefinedMetricType": f"DynamoDB{kind}CapacityUtilization"}
        return self.call(
            "PutScalingPolicy",
            resource,
            PolicyName=name,
            PolicyType="TargetTrackingScaling",
            TargetTrackingScalingPolicyConfiguration={
                "PredefinedMetricSpecification": metric,
                "TargetValue": percent,
                **members,
            },
        )

    def consume(self, units_per_second: float, *, kind: str = "Read", index: str | None = None) -> None:
        """So much was consumed in the minute that is now."""
        name = named(f"Consumed{kind}CapacityUnits", {} if index is None else {"GlobalSecondaryIndexName": index})
        measured = Measured()
        minute = int(self.clock.seconds() // MINUTE)
        measured.add(SCOPE, DYNAMODB, "orders", minute, name, Statistic.of([units_per_second * MINUTE]))
        write_and_wait(self.engine.store, measured.plan)

    def run(self) -> None:
        """Let the controller do what is due."""
        while (step := JOB.next_step(self.engine.db)) is not None:
            assert callable(step)
            write_and_wait(self.engine.store, step)

    def pass_minutes(self, units_per_second: Iterable[float], **where: Any) -> list[int]:
        """Consume so much in one minute after the other; the read capacity at the end of each."""
        capacities = []
        for units in units_per_second:
            self.consume(units, **where)
            self.clock.advance(MINUTE)
            self.run()
            capacities.append(self.capacity())
        return capacities

    def described(self) -> Wire:
        table: Wire = self.engine.call("DescribeTable", TableName="orders")["Table"]
        return table

    def capacity(self, kind: str = "Read") -> int:
        units: int = self.described()["ProvisionedThroughput"][f"{kind}CapacityUnits"]
        return units

    def index_capacity(self, kind: str = "Read") -> int:
        units: int = self.described()["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"][f"{kind}CapacityUnits"]
        return units

    def activities(self) -> list[Wire]:
        found: list[Wire] = self.call("DescribeScalingActivities", {})["ScalingActivities"]
        return found

    def activities_of_all_pages(self) -> list[Wire]:
        found: list[Wire] = []
        page: Wire = {"NextToken": None}
        while "NextToken" in page:
            page = self.call("DescribeScalingActivities", {"NextToken": page["NextToken"]})
            found += page["ScalingActivities"]
        return found


@pytest.fixture
def scaled() -> Scaled:
    return Scaled()
