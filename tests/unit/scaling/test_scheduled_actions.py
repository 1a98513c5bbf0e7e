"""Scheduled actions: the bounds change when they should, and the capacity with them."""

from __future__ import annotations

from typing import Any

import pytest

from harness import expect
from unit.scaling.conftest import DAY, HOUR, MINUTE, Scaled


def put(scaled: Scaled, schedule: str | None, minimum: int | None, maximum: int | None, **members: Any) -> Any:
    bounds = {"MinCapacity": minimum, "MaxCapacity": maximum}
    if schedule is not None:
        members["Schedule"] = schedule
    return scaled.call(
        "PutScheduledAction",
        ScheduledActionName=members.pop("name", "action"),
        ScalableTargetAction={name: units for name, units in bounds.items() if units is not None},
        **members,
    )


def bounds(scaled: Scaled) -> tuple[int, int]:
    (target,) = scaled.call("DescribeScalableTargets", {})["ScalableTargets"]
    return target["MinCapacity"], target["MaxCapacity"]


@pytest.fixture(autouse=True)
def _registered(scaled: Scaled) -> None:
    scaled.register(1, 20)
    scaled.run()


def test_an_action_is_described_as_it_was_put(scaled: Scaled) -> None:
    start, end = scaled.clock.seconds() + HOUR, scaled.clock.seconds() + DAY
    put(scaled, "cron(0 9 * * ? *)", 5, 50, Timezone="Europe/Berlin", StartTime=start, EndTime=end)
    (action,) = scaled.call("DescribeScheduledActions", {})["ScheduledActions"]
    arn = action.pop("ScheduledActionARN")
    assert action == {
        "ScheduledActionName": "action",
        "ServiceNamespace": "dynamodb",
        "Schedule": "cron(0 9 * * ? *)",
        "Timezone": "Europe/Berlin",
        **scaled.reads,
        "StartTime": start,
        "EndTime": end,
        "ScalableTargetAction": {"MinCapacity": 5, "MaxCapacity": 50},
        "CreationTime": scaled.clock.seconds(),
    }
    assert arn.endswith(":resource/dynamodb/table/orders:scheduledActionName/action")


def test_at_the_time_the_bounds_change_and_the_capacity_with_them(scaled: Scaled) -> None:
    put(scaled, "cron(0 2 * * ? *)", 15, 30)
    scaled.clock.advance(2 * HOUR - 11)
    scaled.run()
    assert (bounds(scaled), scaled.capacity()) == ((1, 20), 10)
    scaled.clock.advance(2)
    scaled.run()
    assert (bounds(scaled), scaled.capacity()) == ((15, 30), 15)
    told = [(each["Description"], each["Cause"], each["StatusMessage"]) for each in scaled.activities()]
    assert told == [
        (
            "Setting read capacity units to 15.",
            "minimum capacity was set to 15",
            "Successfully set read capacity units to 15. Change successfully fulfilled by dynamodb.",
        ),
        (
            "Setting min capacity to 15 and max capacity to 30",
            "scheduled action name action was triggered",
            "Successfully set min capacity to 15 and max capacity to 30",
        ),
    ]


def test_an_action_recurs(scaled: Scaled) -> None:
    put(scaled, "cron(0 8 * * ? *)", 15, 20, name="morning")
    put(scaled, "cron(0 20 * * ? *)", 2, 5, name="evening")
    seen = []
    for _ in range(6):
        scaled.clock.advance(8 * HOUR)
        scaled.run()
        seen.append((bounds(scaled), scaled.capacity()))
    assert seen[:3] == [((15, 20), 15), ((15, 20), 15), ((2, 5), 5)]
    assert seen[3:] == [((15, 20), 15), ((15, 20), 15), ((2, 5), 5)]


def test_bounds_that_contradict_the_others_are_not_taken(scaled: Scaled) -> None:
    put(scaled, "rate(1 hour)", 50, None)
    scaled.clock.advance(HOUR + 1)
    scaled.run()
    assert (bounds(scaled), scaled.capacity()) == ((1, 20), 10)
    (activity,) = scaled.activities()
    assert activity["StatusCode"] == "Failed"


def test_an_action_that_was_due_while_nobody_looked_happens_once_when_somebody_does(scaled: Scaled) -> None:
    put(scaled, "rate(1 hour)", 15, None)
    scaled.clock.advance(10 * HOUR)
    scaled.run()
    assert (scaled.capacity(), len(scaled.activities())) == (15, 2)


def test_suspended_schedules_pass(scaled: Scaled) -> None:
    put(scaled, "rate(1 hour)", 15, None)
    scaled.call("RegisterScalableTarget", SuspendedState={"ScheduledScalingSuspended": True})
    scaled.clock.advance(90 * MINUTE)
    scaled.run()
    assert scaled.capacity() == 10
    scaled.call("RegisterScalableTarget", SuspendedState={"ScheduledScalingSuspended": False})
    scaled.run()
    assert scaled.capacity() == 10
    scaled.clock.advance(HOUR)
    scaled.run()
    assert scaled.capacity() == 15


def test_a_deleted_action_does_not_happen(scaled: Scaled) -> None:
    put(scaled, "rate(1 hour)", 15, None)
    scaled.call("DeleteScheduledAction", ScheduledActionName="action")
    scaled.clock.advance(2 * HOUR)
    scaled.run()
    assert scaled.capacity() == 10
    expect(
        "ObjectNotFoundException",
        "No scheduled action found for service namespace: dynamodb, resource ID: table/orders, "
        "scalable dimension: dynamodb:table:ReadCapacityUnits, scheduled action name: action",
        lambda: scaled.call("DeleteScheduledAction", ScheduledActionName="action"),
    )


def test_putting_an_action_again_changes_what_is_mentioned(scaled: Scaled) -> None:
    put(scaled, "rate(1 hour)", 15, 30)
    put(scaled, None, 12, None)
    (action,) = scaled.call("DescribeScheduledActions", {})["ScheduledActions"]
    assert action["Schedule"] == "rate(1 hour)"
    assert action["ScalableTargetAction"] == {"MinCapacity": 12, "MaxCapacity": 30}


def test_what_an_action_must_have(scaled: Scaled) -> None:
    expect("ValidationException", "Schedule must be specified", lambda: put(scaled, None, 1, 2))
    message = "Invalid schedule expression: every day"
    expect("ValidationException", message, lambda: put(scaled, "every day", 1, 2))
    message = "At least one of MinCapacity and MaxCapacity must be specified"
    expect("ValidationException", message, lambda: put(scaled, "rate(1 hour)", None, None))
    message = "Maximum capacity cannot be less than minimum capacity"
    expect("ValidationException", message, lambda: put(scaled, "rate(1 hour)", 3, 2))
    message = "Invalid time zone: Nowhere"
    expect("ValidationException", message, lambda: put(scaled, "rate(1 hour)", 1, 2, Timezone="Nowhere"))
