"""Draws scaling.svg, a day of traffic and what auto scaling makes of it: `PYTHONPATH=src python docs/scaling_day.py`.

The day is run on the real controller, with a store in memory and a clock that is moved minute by minute, so the figure
changes only when the controller does.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import cos, pi, sin
from pathlib import Path
from typing import Any

from hashrange import app
from hashrange.clock import ManualClock
from hashrange.engine.database import Database
from hashrange.engine.scope import scope_of
from hashrange.jobs.scale_tables import JOB
from hashrange.metrics.points import DYNAMODB, Measured
from hashrange.metrics.statistic import Statistic
from hashrange.operations import registry
from hashrange.operations.operation import Request, Write
from hashrange.storage import write_and_wait
from hashrange.storage.memory import MemoryStore

FILE = Path(__file__).parent / "scaling.svg"
SCOPE = scope_of("000000000000", "us-east-1")
TARGET = {
    "ServiceNamespace": "dynamodb",
    "ResourceId": "table/orders",
    "ScalableDimension": "dynamodb:table:ReadCapacityUnits",
}
METRIC = {"PredefinedMetricType": "DynamoDBReadCapacityUtilization"}
MIDNIGHT = 1_800_057_600
MINUTES = 24 * 60
UNITS_MAX = 400

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 860, 300, 50, 40, 30


def traffic(minute: int) -> float:
    """Units per second: quiet at night, busy at noon, with a ripple, and a sudden half hour in the evening."""
    units = 110 - 100 * cos(2 * pi * minute / MINUTES) + 8 * sin(2 * pi * minute / 47)
    return units + (90 if 19 * 60 <= minute < 19 * 60 + 30 else 0)


def simulate() -> tuple[list[float], list[int]]:
    """The units consumed, and those provisioned, in each minute of a day."""
    clock = ManualClock(MIDNIGHT + 10)  # the controller looks at a minute some seconds after its end
    db = app.build_database(MemoryStore(), app.Settings(), clock)
    call(db, "tables.create_table", **TABLE)
    call(db, "autoscaling.register_scalable_target", **TARGET, MinCapacity=10, MaxCapacity=UNITS_MAX)
    call(db, "autoscaling.put_scaling_policy", **TARGET, **POLICY)
    consumed, provisioned = [], []
    for minute in range(MINUTES):
        provisioned.append(capacity(db))
        consumed.append(traffic(minute))
        measure(db, consumed[-1])
        clock.advance(60)
        while (step := JOB.next_step(db)) is not None:
            write_and_wait(db.store, step)  # type: ignore[arg-type]
    return consumed, provisioned


TABLE: dict[str, Any] = {
    "TableName": "orders",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PROVISIONED",
    "ProvisionedThroughput": {"ReadCapacityUnits": 20, "WriteCapacityUnits": 1},
}
POLICY: dict[str, Any] = {
    "PolicyName": "day",
    "PolicyType": "TargetTrackingScaling",
    "TargetTrackingScalingPolicyConfiguration": {"PredefinedMetricSpecification": METRIC, "TargetValue": 70},
}


def call(db: Database, operation: str, **members: Any) -> Any:
    answer = registry.load(operation).run(db, Request(members, SCOPE))
    return write_and_wait(db.store, answer.plan) if isinstance(answer, Write) else answer


def capacity(db: Database) -> int:
    table = call(db, "tables.describe_table", TableName="orders")["Table"]
    return int(table["ProvisionedThroughput"]["ReadCapacityUnits"])


def measure(db: Database, units_per_second: float) -> None:
    measured = Measured()
    minute = int(db.clock.seconds() // 60)
    measured.add(SCOPE, DYNAMODB, "orders", minute, "ConsumedReadCapacityUnits", Statistic.of([units_per_second * 60]))
    write_and_wait(db.store, measured.plan)


def drawn(consumed: list[float], provisioned: list[int]) -> str:
    """The figure."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *(rule(units) for units in range(0, UNITS_MAX + 1, 100)),
        *(hour(each) for each in range(0, 25, 3)),
        line(enumerate(consumed), "#d9822b", 1.5),
        line(stairs(provisioned), "#1f5fa8", 2),
        legend(LEFT + 10, "#1f5fa8", "provisioned read capacity units"),
        legend(LEFT + 250, "#d9822b", "consumed units per second"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def stairs(values: list[int]) -> Iterable[tuple[float, float]]:
    """Only the corners: most minutes change nothing."""
    for minute, units in enumerate(values):
        if minute == 0 or units != values[minute - 1]:
            if minute:
                yield minute, values[minute - 1]
            yield minute, units
    yield len(values), values[-1]


def line(points: Iterable[tuple[float, float]], colour: str, width: float) -> str:
    text = " ".join(f"{x(minute):.1f},{y(units):.1f}" for minute, units in points)
    return f'<polyline fill="none" stroke="{colour}" stroke-width="{width}" points="{text}"/>'


def rule(units: int) -> str:
    return (
        f'<line x1="{LEFT}" x2="{WIDTH - 10}" y1="{y(units):.1f}" y2="{y(units):.1f}" stroke="#dddddd"/>'
        f'<text x="{LEFT - 8}" y="{y(units) + 4:.1f}" text-anchor="end" fill="#555555">{units}</text>'
    )


def hour(number: int) -> str:
    return f'<text x="{x(number * 60):.1f}" y="{HEIGHT - 16}" text-anchor="middle" fill="#555555">{number:02}:00</text>'


def legend(left: int, colour: str, text: str) -> str:
    return (
        f'<rect x="{left}" y="10" width="18" height="4" fill="{colour}"/>'
        f'<text x="{left + 24}" y="16" fill="#333333">{text}</text>'
    )


def x(minute: float) -> float:
    return LEFT + (WIDTH - LEFT - 20) * minute / MINUTES


def y(units: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * units / UNITS_MAX


if __name__ == "__main__":
    FILE.write_text(drawn(*simulate()), encoding="utf-8")
