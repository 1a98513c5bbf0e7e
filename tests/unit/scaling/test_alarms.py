"""The alarms of a policy: they come with it, follow the capacity, and go with it."""

from __future__ import annotations

from hashrange.jobs import evaluate_alarms, note_metrics
from hashrange.jobs.job import IoStep
from hashrange.metrics.alarms import Alarm, alarms_of
from hashrange.storage import write_and_wait
from unit.scaling.conftest import MINUTE, SCOPE, Scaled, throughput


def alarms(scaled: Scaled) -> dict[str, Alarm]:
    """The alarms that there are, by their purpose."""
    with scaled.engine.store.read() as snapshot:
        return {alarm.name.rsplit("-", 5)[0].rpartition("-")[2]: alarm for alarm in alarms_of(snapshot, SCOPE)}


def thresholds(scaled: Scaled) -> dict[str, float]:
    return {purpose: round(alarm.threshold, 6) for purpose, alarm in alarms(scaled).items()}


def evaluate(scaled: Scaled) -> None:
    """Let the jobs of CloudWatch do what is due."""
    for job in (note_metrics.JOB, evaluate_alarms.JOB):
        while (step := job.next_step(scaled.engine.db)) is not None:
            write_and_wait(scaled.engine.store, step.run() if isinstance(step, IoStep) else step)


def test_a_policy_has_four_alarms(scaled: Scaled) -> None:
    scaled.register(1, 100)
    put = scaled.track(70)
    found = alarms(scaled)
    assert sorted(alarm.name for alarm in found.values()) == sorted(each["AlarmName"] for each in put["Alarms"])
    told = {
        purpose: (alarm.line.ask.metric, alarm.comparison, alarm.evaluation_periods, alarm.period_seconds)
        for purpose, alarm in found.items()
        if alarm.line.ask is not None
    }
    assert told == {
        "AlarmHigh": ("ConsumedReadCapacityUnits", "GreaterThanThreshold", 2, 60),
        "AlarmLow": ("ConsumedReadCapacityUnits", "LessThanThreshold", 15, 60),
        "ProvisionedCapacityHigh": ("ProvisionedReadCapacityUnits", "GreaterThanThreshold", 3, 300),
        "ProvisionedCapacityLow": ("ProvisionedReadCapacityUnits", "LessThanThreshold", 3, 300),
    }
    assert thresholds(scaled) == {
        "AlarmHigh": 420,
        "AlarmLow": 300,
        "ProvisionedCapacityHigh": 10,
        "ProvisionedCapacityLow": 10,
    }
    assert {alarm.alarm_actions for alarm in found.values()} == {(put["PolicyARN"],)}


def test_thresholds_follow_the_capacity_whoever_changes_it(scaled: Scaled) -> None:
    scaled.register(1, 100)
    scaled.track(70)
    scaled.pass_minutes([14, 14, 14])
    assert thresholds(scaled)["AlarmHigh"] == 840
    scaled.engine.call("UpdateTable", TableName="orders", ProvisionedThroughput=throughput(50, 10))
    scaled.pass_minutes([30, 30])
    assert thresholds(scaled)["AlarmHigh"] == 2100
    scaled.track(50)
    assert thresholds(scaled)["AlarmHigh"] == 1500


def test_the_alarms_go_with_their_policy(scaled: Scaled) -> None:
    for remove in (
        lambda: scaled.call("DeleteScalingPolicy", PolicyName="policy"),
        lambda: scaled.call("DeregisterScalableTarget"),
    ):
        scaled.register(1, 100)
        scaled.track(70)
        assert len(alarms(scaled)) == 4
        remove()
        assert alarms(scaled) == {}


def test_the_alarm_is_raised_by_what_scales_the_table(scaled: Scaled) -> None:
    scaled.register(1, 10)  # as much as there is, so that the alarm stays
    scaled.track(70)
    for _ in range(3):
        scaled.consume(9)
        scaled.clock.advance(MINUTE)
        evaluate(scaled)
    assert alarms(scaled)["AlarmHigh"].state == "ALARM"
