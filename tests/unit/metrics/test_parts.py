"""Whatever is asked about metrics is read in parts that are short, and whatever is written waits in the one queue."""

from typing import Any

import cbor2
import pytest

from harness import AUTHORIZATION, ApiError, Engine, FakeExchange
from hashrange.engine.scope import scope_of
from hashrange.jobs import note_metrics
from hashrange.metrics import provisioned, recorder
from hashrange.metrics.points import DYNAMODB, Measured, minute_of
from hashrange.metrics.statistic import Statistic
from hashrange.operations import registry
from hashrange.operations.cloudwatch import list_metrics
from hashrange.operations.operation import LongRead, Request
from hashrange.storage import write_and_wait
from unit.metrics.watching import cloudwatch, get, metric, put, query, values

SCOPE = scope_of("000000000000", "us-east-1")
HOURS = 20


@pytest.fixture
def engine() -> Engine:
    """A table of which something was measured in each of many minutes."""
    engine = Engine()
    engine.create_table()
    measured = Measured()
    now = minute_of(engine.clock.seconds())
    for minute in range(now - HOURS * 60, now):
        measured.add(SCOPE, DYNAMODB, "table", minute, "ConsumedReadCapacityUnits", Statistic.of([1.0, 2.0]))
    write_and_wait(engine.store, measured.plan)
    return engine


def steps_of(engine: Engine, operation: str, **members: Any) -> tuple[int, Any]:
    """In how many parts an operation comes to its answer, and the answer."""
    module = next(each for each in registry.CLOUDWATCH_CONTENTS if registry.name_of(each) == operation)
    read = registry.load(module).run(engine.db, Request(members, SCOPE))
    assert isinstance(read, LongRead)
    steps = 1
    while (answer := read.step()) is None:
        steps += 1
    return steps, answer


def stretch(engine: Engine) -> dict[str, Any]:
    now = engine.clock.seconds()
    return {"StartTime": now - HOURS * 3600, "EndTime": now}


def test_a_long_line_is_read_in_parts(engine: Engine) -> None:
    asked = [query("ConsumedReadCapacityUnits"), {"Id": "e", "Expression": "SUM([m, m * 2])"}]
    steps, answer = steps_of(engine, "GetMetricData", MetricDataQueries=asked, **stretch(engine))
    assert [sum(each["Values"]) for each in answer["MetricDataResults"]] == [HOURS * 60 * 3.0, HOURS * 60 * 9.0]
    assert steps > HOURS
    where = {**metric("ConsumedReadCapacityUnits"), "Period": 60, "Statistics": ["Sum"], **stretch(engine)}
    steps, answer = steps_of(engine, "GetMetricStatistics", **where)
    assert (len(answer["Datapoints"]), steps > HOURS) == (HOURS * 60, True)


def test_a_period_that_is_read_in_several_parts_is_whole(engine: Engine) -> None:
    now = engine.clock.seconds()
    asked = [query("ConsumedReadCapacityUnits", period=7 * 60)]
    _, answer = steps_of(
        engine,
        "GetMetricData",
        MetricDataQueries=asked,
        StartTime=now - 70 * 60,
        EndTime=now,
        ScanBy="TimestampAscending",
    )
    (line,) = answer["MetricDataResults"]
    assert line["Values"] == [21.0] * 10
    assert line["Timestamps"] == [now - 70 * 60 + 420 * number for number in range(10)]


def test_metrics_of_many_tables_are_listed_in_parts(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_metrics, "GROUPS_PER_PART", 2)
    for number in range(7):
        engine.create_table(f"more{number}")
        put(engine, table=f"more{number}")
    engine.db.recorder.flush()
    steps, answer = steps_of(engine, "ListMetrics", MetricName="ConsumedWriteCapacityUnits")
    assert steps >= 4
    tables = [each["Dimensions"][0]["Value"] for each in answer["Metrics"]]
    assert tables == [f"more{number}" for number in range(7)]


def test_the_history_of_alarms_comes_in_pages_in_the_order_of_time(engine: Engine) -> None:
    for number in range(5):
        engine.clock.advance(1)
        cloudwatch(
            engine, "PutMetricAlarm", AlarmName=f"alarm{number % 2}", **metric("ConsumedReadCapacityUnits"), Period=60,
            Statistic="Sum", EvaluationPeriods=1, Threshold=float(number), ComparisonOperator="GreaterThanThreshold",
        )  # fmt: skip
    for order, expected in (("TimestampDescending", [5, 4, 3, 2, 1]), ("TimestampAscending", [1, 2, 3, 4, 5])):
        members: dict[str, Any] = {"ScanBy": order, "MaxRecords": 2}
        found = []
        while True:
            answer = cloudwatch(engine, "DescribeAlarmHistory", **members)
            found += [each["Timestamp"] - 1_800_000_000 for each in answer["AlarmHistoryItems"]]
            if "NextToken" not in answer:
                break
            members["NextToken"] = answer["NextToken"]
        assert found == expected


def test_pages_in_other_protocols_than_json_are_shorter(engine: Engine) -> None:
    now = engine.clock.seconds()
    content = {
        "StartTime": now - 15 * 86_400, "EndTime": now, "ScanBy": "TimestampAscending",
        "MetricDataQueries": [
            {**query("ConsumedReadCapacityUnits"), "ReturnData": False}, {"Id": "e", "Expression": "FILL(m, 0)"},
        ],
    }  # fmt: skip
    authorization = AUTHORIZATION % (b"AKID", b"us-east-1")
    headers = {
        b"authorization": authorization,
        b"x-amz-date": b"20260101T000000Z",
        b"content-type": b"application/cbor",
    }
    exchange = FakeExchange(headers, cbor2.dumps(content))
    exchange.url = b"/service/GraniteServiceVersion20100801/operation/GetMetricData"
    engine._handle(exchange)  # type: ignore[arg-type]
    assert exchange.answer is not None
    answer = cbor2.loads(exchange.answer[2])
    assert sum(len(each["Values"]) for each in answer["MetricDataResults"]) == 10_000
    assert "NextToken" in answer


def test_writes_to_cloudwatch_wait_in_the_same_queue_as_all_others(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hashrange.http.overload.WRITES_WAITING_MAX", 0)
    with pytest.raises(ApiError) as caught:
        cloudwatch(engine, "PutMetricData", Namespace="Mine", MetricData=[{"MetricName": "m", "Value": 1.0}])
    assert (caught.value.status, caught.value.code) == (503, "ServiceUnavailable")


def test_writes_to_lambda_do_too(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hashrange.http.overload.WRITES_WAITING_MAX", 0)
    headers = {b"authorization": AUTHORIZATION % (b"AKID", b"us-east-1"), b"x-amz-date": b"20260101T000000Z"}
    exchange = FakeExchange(headers, b"")
    exchange.method, exchange.url = b"DELETE", b"/2015-03-31/event-source-mappings/00000000-0000-0000-0000-000000000000"
    engine._handle(exchange)  # type: ignore[arg-type]
    assert exchange.answer is not None
    assert exchange.answer[0] == 503


def test_the_errors_of_other_services_are_not_those_of_dynamodb(engine: Engine) -> None:
    with pytest.raises(ApiError):
        engine.call("AnyScaleFrontendService.DescribeScalableTargets", ServiceNamespace="dynamodb", MaxResults=1000)
    with pytest.raises(ApiError):
        cloudwatch(engine, "DeleteAlarms", AlarmNames=["nobody"])
    assert cloudwatch(engine, "ListMetrics", MetricName="UserErrors")["Metrics"] == []


def test_what_thousands_of_tables_did_is_made_into_statistics_in_parts(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "TALLIES_PER_PART", 2)
    for number in range(5):
        engine.create_table(f"more{number}")
        put(engine, table=f"more{number}")
    parts = 1
    while engine.db.recorder.digest():
        parts += 1
        get(engine)  # requests are counted in between
    assert parts >= 3
    engine.clock.advance(60)
    assert [values(engine, "ConsumedWriteCapacityUnits", TableName=f"more{number}") for number in range(5)] == [
        [1.0]
    ] * 5
    assert values(engine, "ConsumedReadCapacityUnits")[-1] == 0.5 * (parts - 1)


def test_the_capacity_of_many_tables_is_looked_at_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(note_metrics, "TABLES_PER_LOOK", 2)
    engine = Engine()
    for number in range(5):
        units = {"ReadCapacityUnits": 100 * (number + 1), "WriteCapacityUnits": 1}
        engine.create_table(f"table{number}", BillingMode="PROVISIONED", ProvisionedThroughput=units)
    looks = notes(engine)
    assert [len(look) for look in looks if look] == [2, 2, 2]  # the last with the account's
    engine.call("DeleteTable", TableName="table1")
    assert [name for look in notes(engine) for name in look] == ["table1", ""]
    with engine.db.read() as snapshot:
        assert provisioned.latest_of(snapshot, SCOPE, "table1") == {}
        account = provisioned.latest_of(snapshot, SCOPE, "")
    assert account["AccountProvisionedReadCapacityUtilization"] == pytest.approx(100 * 1300 / 80_000)
    assert account["MaxProvisionedTableReadCapacityUtilization"] == pytest.approx(100 * 500 / 40_000)


def notes(engine: Engine) -> list[list[str]]:
    """What is noted at each look, of a round and a bit."""
    looks = []
    for _ in range(6):
        step = note_metrics.JOB.next_step(engine.db)
        assert not hasattr(step, "run")
        with engine.db.read() as snapshot:
            plan = None if step is None else step(snapshot)  # type: ignore[operator]
        looks.append([] if plan is None else [key.split(b"\0")[3][1:].decode() for key, _ in plan.mutations])
        if plan is not None:
            write_and_wait(engine.store, lambda snapshot, plan=plan: plan)  # type: ignore[misc]
    return looks


def test_the_last_note_of_a_deleted_table_is_forgotten_too() -> None:
    engine = Engine()
    engine.create_table(
        BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    )
    engine.run_jobs()
    engine.clock.advance(60)
    engine.call("DeleteTable", TableName="table")
    engine.run_jobs()
    engine.clock.advance(16 * 86_400)
    engine.run_jobs()
    with engine.db.read() as snapshot:
        assert [key for key, _ in snapshot.scan(b"M", b"N") if b"\0ptable\0" in key] == []
