"""Alarms are evaluated every minute, on the clock that is injected, as the tables of CloudWatch's guide say."""

from typing import Any

import pytest

from harness import ApiError, Engine, expect
from hashrange.metrics.alarms import Alarm
from hashrange.metrics.evaluation import state_of
from hashrange.metrics.reading import Ask
from unit.metrics.watching import cloudwatch, metric, put, query


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.create_table()
    return engine


def make(engine: Engine, name: str = "busy", **members: Any) -> None:
    settings = {
        **metric("ConsumedWriteCapacityUnits"),
        "Statistic": "Sum",
        "Period": 60,
        "EvaluationPeriods": 1,
        "Threshold": 2.0,
        "ComparisonOperator": "GreaterThanThreshold",
    }
    cloudwatch(engine, "PutMetricAlarm", AlarmName=name, **{**settings, **members})


def described(engine: Engine, name: str = "busy") -> Any:
    (alarm,) = cloudwatch(engine, "DescribeAlarms", AlarmNames=[name])["MetricAlarms"]
    return alarm


def minute(engine: Engine, puts: int) -> str:
    """A minute with some writes; the state of the alarm after it."""
    for _ in range(puts):
        put(engine)
    engine.clock.advance(60 if engine.clock.seconds() % 60 else 63)
    engine.run_jobs()
    return str(described(engine)["StateValue"])


def test_an_alarm_goes_off_and_comes_back(engine: Engine) -> None:
    make(engine)
    assert described(engine)["StateValue"] == "INSUFFICIENT_DATA"
    assert described(engine)["StateReason"] == "Unchecked: Initial alarm creation"
    assert [minute(engine, puts) for puts in (1, 3, 3, 1)] == ["OK", "ALARM", "ALARM", "OK"]
    history = cloudwatch(engine, "DescribeAlarmHistory", AlarmName="busy")["AlarmHistoryItems"]
    assert [each["HistorySummary"] for each in history] == [
        "Alarm updated from ALARM to OK",
        "Alarm updated from OK to ALARM",
        "Alarm updated from INSUFFICIENT_DATA to OK",
        'Alarm "busy" created',
    ]


def test_the_reason_is_told_in_the_words_of_the_service(engine: Engine) -> None:
    make(engine)
    minute(engine, 1)
    minute(engine, 3)
    assert described(engine)["StateReason"] == (
        "Threshold Crossed: 1 out of the last 1 datapoints [3.0 (15/01/27 08:01:00)] was greater than the threshold "
        "(2.0) (minimum 1 datapoint for OK -> ALARM transition)."
    )


def test_several_periods_are_needed_if_the_alarm_says_so(engine: Engine) -> None:
    make(engine, EvaluationPeriods=3, DatapointsToAlarm=2)
    assert [minute(engine, puts) for puts in (1, 1, 1, 3, 1, 3, 1, 1)] == ["OK"] * 5 + ["ALARM", "OK", "OK"]


@pytest.mark.parametrize(
    ("missing", "state"),
    [("missing", "INSUFFICIENT_DATA"), ("notBreaching", "OK"), ("breaching", "ALARM"), ("ignore", "OK")],
)
def test_silence_is_treated_as_the_alarm_says(engine: Engine, missing: str, state: str) -> None:
    make(engine, TreatMissingData=missing)
    minute(engine, 1)
    assert [minute(engine, 0) for _ in range(4)][-1] == state


# From the tables in "Configuring how CloudWatch alarms treat missing data": the points of the evaluation range, oldest
# first, and the states with missing, ignore (None: as it was), breaching and notBreaching. Those behind the first five
# of each are in the text under "Avoiding premature transitions to alarm state".
THREE_OF_THREE = {
    "0-X-X": ("OK", "OK", "OK", "OK"),
    "0----": ("OK", "OK", "OK", "OK"),
    "-----": ("INSUFFICIENT_DATA", None, "ALARM", "OK"),
    "0XX-X": ("ALARM", "ALARM", "ALARM", "ALARM"),
    "--X--": ("ALARM", None, "ALARM", "OK"),
    "----X": (None, None, "ALARM", "OK"),
    "---X-": (None, None, "ALARM", "OK"),
    "---X0": ("OK", "OK", "OK", "OK"),
    "--X-0": ("OK", "OK", "OK", "OK"),
}
TWO_OF_THREE = {
    "0-X-X": ("ALARM", "ALARM", "ALARM", "ALARM"),
    "00X0X": ("ALARM", "ALARM", "ALARM", "ALARM"),
    "0-X--": ("OK", "OK", "ALARM", "OK"),
    "----0": ("OK", "OK", "ALARM", "OK"),
    "---X-": ("ALARM", None, "ALARM", "OK"),
    "----X": (None, None, "ALARM", "OK"),
}


@pytest.mark.parametrize(("needed", "table"), [(3, THREE_OF_THREE), (2, TWO_OF_THREE)])
def test_missing_data_is_treated_as_in_the_guide(needed: int, table: dict[str, tuple[str | None, ...]]) -> None:
    for points, states in table.items():
        ages = enumerate(reversed(points), start=1)
        known = [(age, point == "X") for age, point in ages if point != "-"][:3]
        for missing, state in zip(("missing", "ignore", "breaching", "notBreaching"), states, strict=True):
            alarm = Alarm.on_metric(
                "a",
                Ask("m", {}, 60, "Sum"),
                threshold=1.0,
                comparison="GreaterThanThreshold",
                evaluation_periods=3,
                now_micros=0,
                datapoints_to_alarm=needed,
                missing_data=missing,
            )
            assert state_of(alarm, known) == state, (points, missing)


def test_alarms_on_tables_ignore_what_is_missing_unless_told_otherwise(engine: Engine) -> None:
    make(engine)
    assert [minute(engine, puts) for puts in (3, 0, 0, 0, 0, 1, 0, 0, 0)] == ["ALARM"] * 5 + ["OK"] * 4
    assert "TreatMissingData" not in described(engine)
    make(engine, TreatMissingData="missing")
    assert described(engine)["TreatMissingData"] == "missing"
    assert minute(engine, 0) == "INSUFFICIENT_DATA"


def test_one_bad_minute_does_not_make_three(engine: Engine) -> None:
    make(engine, EvaluationPeriods=3, TreatMissingData="missing")
    assert [minute(engine, puts) for puts in (3, 0, 0, 0, 0, 0)] == [
        "INSUFFICIENT_DATA", "INSUFFICIENT_DATA", "ALARM", "ALARM", "ALARM", "INSUFFICIENT_DATA",
    ]  # fmt: skip


def test_an_alarm_can_watch_an_expression(engine: Engine) -> None:
    watched = [
        {**query("ConsumedWriteCapacityUnits", key="w"), "ReturnData": False},
        {"Id": "rate", "Expression": "w * 10", "ReturnData": True},
    ]
    cloudwatch(
        engine,
        "PutMetricAlarm",
        AlarmName="busy",
        Metrics=watched,
        EvaluationPeriods=1,
        Threshold=25.0,
        ComparisonOperator="GreaterThanOrEqualToThreshold",
    )
    assert [minute(engine, puts) for puts in (1, 3)] == ["OK", "ALARM"]
    assert [each["Id"] for each in described(engine)["Metrics"]] == ["w", "rate"]


def test_a_changed_alarm_keeps_its_state(engine: Engine) -> None:
    make(engine)
    minute(engine, 3)
    make(engine, Threshold=100.0, AlarmDescription="calmer")
    assert (described(engine)["StateValue"], described(engine)["AlarmDescription"]) == ("ALARM", "calmer")
    assert minute(engine, 3) == "OK"


def test_a_state_can_be_set_until_the_next_evaluation(engine: Engine) -> None:
    make(engine)
    minute(engine, 1)
    cloudwatch(engine, "SetAlarmState", AlarmName="busy", StateValue="ALARM", StateReason="a drill")
    assert (described(engine)["StateValue"], described(engine)["StateReason"]) == ("ALARM", "a drill")
    assert minute(engine, 1) == "OK"


def test_alarms_are_found_by_name_state_and_metric_and_in_pages(engine: Engine) -> None:
    for number in range(7):
        make(engine, f"alarm-{number}", AlarmActions=["arn:aws:sns:us-east-1:000000000000:pager"])
    first = cloudwatch(engine, "DescribeAlarms", AlarmNamePrefix="alarm", MaxRecords=5)
    second = cloudwatch(engine, "DescribeAlarms", AlarmNamePrefix="alarm", NextToken=first["NextToken"])
    names = [each["AlarmName"] for each in first["MetricAlarms"] + second["MetricAlarms"]]
    assert names == [f"alarm-{number}" for number in range(7)]
    assert cloudwatch(engine, "DescribeAlarms", StateValue="ALARM")["MetricAlarms"] == []
    assert len(cloudwatch(engine, "DescribeAlarms", ActionPrefix="arn:aws:sns")["MetricAlarms"]) == 7
    about = cloudwatch(engine, "DescribeAlarmsForMetric", **metric("ConsumedWriteCapacityUnits"))
    assert len(about["MetricAlarms"]) == 7
    assert cloudwatch(engine, "DescribeAlarmsForMetric", **metric("Other"))["MetricAlarms"] == []


def test_actions_can_be_switched_off_and_on(engine: Engine) -> None:
    make(engine)
    cloudwatch(engine, "DisableAlarmActions", AlarmNames=["busy", "unknown"])
    assert described(engine)["ActionsEnabled"] is False
    cloudwatch(engine, "EnableAlarmActions", AlarmNames=["busy"])
    assert described(engine)["ActionsEnabled"] is True


def test_alarms_are_deleted_together_or_not_at_all(engine: Engine) -> None:
    make(engine)
    expect(
        "ResourceNotFound",
        "Unknown alarm name: other",
        lambda: cloudwatch(engine, "DeleteAlarms", AlarmNames=["busy", "other"]),
    )
    assert described(engine)
    cloudwatch(engine, "DeleteAlarms", AlarmNames=["busy"])
    assert cloudwatch(engine, "DescribeAlarms")["MetricAlarms"] == []
    assert cloudwatch(engine, "DescribeAlarmHistory")["AlarmHistoryItems"] == []


@pytest.mark.parametrize(
    "members",
    [
        {"Period": 61},
        {"Period": 5},
        {"Statistic": "Median"},
        {"ExtendedStatistic": "p99"},
        {"TreatMissingData": "perhaps"},
        {"EvaluationPeriods": 2, "DatapointsToAlarm": 3},
        {"EvaluationPeriods": 1441},
        {"ComparisonOperator": "LessThanLowerThreshold"},
        {"Metrics": [query("X")]},
        {"ThresholdMetricId": "m1"},
    ],
)
def test_alarms_that_make_no_sense_are_refused(engine: Engine, members: dict[str, Any]) -> None:
    with pytest.raises(ApiError) as caught:
        make(engine, **members)
    assert caught.value.code == "ValidationException"
