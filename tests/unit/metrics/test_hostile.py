"""Requests for CloudWatch that are broken, absurd or far too large are refused quickly and leave no harm."""

import math
import time
from itertools import product
from typing import Any

import cbor2
import orjson
import pytest

from harness import AUTHORIZATION, Engine, FakeExchange
from unit.metrics.watching import START, put, query

CBOR_URL = b"/service/GraniteServiceVersion20100801/operation/"
SECONDS_MAX = 2.0


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.create_table()
    put(engine)
    return engine


def ask(engine: Engine, body: bytes, *, url: bytes = b"/", **headers: bytes) -> tuple[int, bytes]:
    given = {name.replace("_", "-").encode(): value for name, value in headers.items()}
    authorization = AUTHORIZATION % (b"AKID", b"us-east-1")
    exchange = FakeExchange({b"x-amz-date": b"20260101T000000Z", b"authorization": authorization, **given}, body)
    exchange.url = url
    begun = time.perf_counter()
    engine._handle(exchange)  # type: ignore[arg-type]
    assert time.perf_counter() - begun < SECONDS_MAX
    assert exchange.answer is not None
    return exchange.answer[0], exchange.answer[2]


def cbor(engine: Engine, operation: str, content: Any) -> tuple[int, Any]:
    body = content if isinstance(content, bytes) else cbor2.dumps(content)
    status, answer = ask(engine, body, url=CBOR_URL + operation.encode(), content_type=b"application/cbor")
    return status, cbor2.loads(answer)


def form(engine: Engine, body: bytes) -> tuple[int, str]:
    status, answer = ask(engine, body, content_type=b"application/x-www-form-urlencoded")
    return status, answer.decode()


def alarm(**members: Any) -> dict[str, Any]:
    return {
        "AlarmName": "a",
        "Namespace": "n",
        "MetricName": "m",
        "Statistic": "Sum",
        "Period": 60,
        "EvaluationPeriods": 1,
        "Threshold": 1.0,
        "ComparisonOperator": "GreaterThanThreshold",
        **members,
    }


@pytest.mark.parametrize(
    "content",
    [
        b"\xff",
        b"\x81" * 5000 + b"\x00",
        b"\xd8\x1c\x81\xd8\x1d\x00",
        [],
        "text",
        {1: 2},
        alarm(Threshold=math.nan),
        alarm(Threshold=math.inf),
        alarm(Threshold=10**400),
        alarm(EvaluationPeriods=10**30),
        alarm(AlarmName=b"bytes"),
        alarm(AlarmName="a\0b"),
        alarm(Period=None),
        alarm(Dimensions=[{"Name": "x"}]),
    ],
)
def test_requests_in_cbor_that_are_not_sensible_are_refused(engine: Engine, content: Any) -> None:
    status, answer = cbor(engine, "PutMetricAlarm", content)
    assert status == 400, answer
    assert "#" in answer["__type"]
    engine.clock.advance(120)
    engine.run_jobs()


def test_a_short_text_that_stands_for_very_many_values_is_refused(engine: Engine) -> None:
    datum: dict[str, Any] = {"MetricName": "m", "Values": [1.0] * 5000, "Counts": [1.0] * 5000}
    body = cbor2.dumps({"Namespace": "n", "MetricData": [datum] * 5000}, value_sharing=True)
    assert len(body) < 200_000
    assert cbor(engine, "PutMetricData", body)[0] == 400


@pytest.mark.parametrize("moment", [math.nan, math.inf, -math.inf])
def test_times_that_are_none_are_refused(engine: Engine, moment: float) -> None:
    for times in ({"StartTime": moment, "EndTime": START}, {"StartTime": START, "EndTime": moment}):
        status, _ = cbor(engine, "GetMetricData", {"MetricDataQueries": [query("X")], **times})
        assert status == 400


def test_expressions_computed_from_expressions_end_somewhere(engine: Engine) -> None:
    chain = [{"Id": f"e{number}", "Expression": f"e{number + 1} + 1"} for number in range(400)]
    queries = [*chain, query("ConsumedWriteCapacityUnits", key="e400")]
    asked = {"MetricDataQueries": queries, "StartTime": START - 60.0, "EndTime": START + 60.0}
    status, answer = cbor(engine, "GetMetricData", asked)
    assert (status, "nested too deeply" in answer["message"]) == (400, True)


def test_an_absurd_range_is_answered_with_what_there_is(engine: Engine) -> None:
    ranges = ((0.0, 9e10), (-1e15, 1e15), (-1e300, 1e300))
    for period, (begin, end) in product((1, 60, 3600, 86_400, 60 * 10**6), ranges):
        asked = {"MetricDataQueries": [query("ConsumedWriteCapacityUnits", period=period)]}
        status, answer = cbor(engine, "GetMetricData", {**asked, "StartTime": begin, "EndTime": end})
        assert (status, answer["MetricDataResults"][0]["Values"]) == (200, [1.0])


def test_many_queries_about_many_days_come_in_pages(engine: Engine) -> None:
    queries = [query("Nonsense", key=f"m{number}") for number in range(500)]
    asked = {"MetricDataQueries": queries, "StartTime": START - 14.0 * 86_400, "EndTime": START + 60.0}
    status, answer = cbor(engine, "GetMetricData", asked)
    assert status == 200
    assert len(answer["MetricDataResults"]) < 500
    assert answer["NextToken"]


def test_an_expression_over_too_much_is_refused(engine: Engine) -> None:
    queries = [{**query("Nonsense", key=f"m{number}"), "ReturnData": False} for number in range(499)]
    queries.append({"Id": "e", "Expression": "SUM(METRICS())"})
    asked = {"MetricDataQueries": queries, "StartTime": START - 14.0 * 86_400, "EndTime": START + 60.0}
    status, answer = cbor(engine, "GetMetricData", asked)
    assert (status, "too much to read" in answer["message"]) == (400, True)


@pytest.mark.parametrize(
    "body",
    [
        b"Action=Nothing",
        b"Action=",
        b"Action=GetMetricData&StartTime=yesterday",
        b"Action=GetMetricData&StartTime=2026-01-01&StartTime.x=1",
        b"Action=GetMetricData&MetricDataQueries=1",
        b"Action=GetMetricData&MetricDataQueries.member.1=x",
        b"Action=PutMetricAlarm&Threshold=nan&AlarmName=a",
        b"Action=PutMetricAlarm&AlarmName.a.b.c=a",
        b"Action=DescribeAlarms&" + b"&".join(b"x%d=1" % number for number in range(60_000)),
        b"Action=DescribeAlarms&MaxRecords=" + b"9" * 5000,
        b"Action=DescribeAlarms&AlarmNames.member.1=" + b"x" * 300,
        b"\xff\xfeAction=DescribeAlarms&x=%ff",
    ],
)
def test_forms_that_are_not_sensible_are_refused_in_xml(engine: Engine, body: bytes) -> None:
    status, answer = form(engine, body)
    assert status == 400
    assert answer.startswith("<ErrorResponse")
    assert answer.endswith("</ErrorResponse>")


def test_a_body_beyond_a_megabyte_is_refused(engine: Engine) -> None:
    body = orjson.dumps({"Namespace": "n" * 2_000_000})
    status, _ = ask(
        engine,
        body,
        content_type=b"application/x-amz-json-1.0",
        x_amz_target=b"GraniteServiceVersion20100801.PutMetricData",
    )
    assert status == 400


def test_namespaces_cannot_reach_into_others(engine: Engine) -> None:
    datum = {"MetricName": "m", "Value": 1.0}
    assert cbor(engine, "PutMetricData", {"Namespace": "x\0tgroup", "MetricData": [datum]})[0] == 400


def test_unknown_operations_are_told_apart(engine: Engine) -> None:
    status, answer = cbor(engine, "PutDashboard", {})
    assert (status, answer["__type"].rpartition("#")[2]) == (400, "UnknownOperationException")
