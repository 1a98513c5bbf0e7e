"""GetMetricData, GetMetricStatistics, ListMetrics and PutMetricData answer as CloudWatch does."""

from typing import Any

import pytest

from harness import ApiError, Engine, expect
from unit.metrics.watching import START, cloudwatch, dimension_list, get, lines, metric, put, query, values

SIX_HOURS = 6 * 3600


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.create_table()
    return engine


def statistics(engine: Engine, name: str = "ConsumedWriteCapacityUnits", **members: Any) -> Any:
    now = engine.clock.seconds()
    given = {"StartTime": now - 600, "EndTime": now + 60, "Period": 60, "Statistics": ["Sum"], **members}
    return cloudwatch(engine, "GetMetricStatistics", **metric(name), **given)


def test_statistics_come_with_their_unit(engine: Engine) -> None:
    put(engine)
    put(engine)
    answer = statistics(engine, Statistics=["Sum", "Average", "SampleCount", "Minimum", "Maximum"])
    assert answer["Label"] == "ConsumedWriteCapacityUnits"
    (point,) = answer["Datapoints"]
    assert point == {
        "Timestamp": START,
        "Sum": 2.0,
        "Average": 1.0,
        "SampleCount": 2.0,
        "Minimum": 1.0,
        "Maximum": 1.0,
        "Unit": "Count",
    }


def test_too_many_points_are_refused_in_the_words_of_the_service(engine: Engine) -> None:
    expect(
        "InvalidParameterCombinationException",
        "You have requested up to 1,441 datapoints, which exceeds the limit of 1,440. You may reduce the datapoints "
        "requested by increasing Period, or decreasing the time range.",
        lambda: statistics(engine, StartTime=START, EndTime=START + 1441 * 60),
    )


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"Statistics": None}, "MissingRequiredParameterException"),
        ({"ExtendedStatistics": ["p99"]}, "InvalidParameterCombinationException"),
        ({"Statistics": None, "ExtendedStatistics": ["p999"]}, "InvalidParameterValueException"),
        ({"Period": 61}, "InvalidParameterValueException"),
        ({"StartTime": START + 100, "EndTime": START}, "InvalidParameterValueException"),
        ({"Statistics": ["Median"]}, "ValidationException"),
        ({"Namespace": ":x"}, "ValidationException"),
    ],
)
def test_statistics_that_make_no_sense_are_refused(engine: Engine, members: dict[str, Any], code: str) -> None:
    given = {**metric("X"), "StartTime": START, "EndTime": START + 60, "Period": 60, "Statistics": ["Sum"]}
    with pytest.raises(ApiError) as caught:
        cloudwatch(engine, "GetMetricStatistics", **{**given, **members})
    assert caught.value.code == code


def test_a_period_of_an_hour_is_the_sum_of_its_minutes(engine: Engine) -> None:
    engine.clock.advance(3600 - START % 3600)
    for _ in range(130):
        put(engine)
        engine.clock.advance(60)
    start = START - START % 3600 + 3600
    members = {"MetricDataQueries": [query("ConsumedWriteCapacityUnits", period=3600)], "EndTime": start + SIX_HOURS}
    for begin, expected in ((start, [60.0, 60.0, 10.0]), (start - 1800, [30.0, 60.0, 40.0])):
        answer = cloudwatch(engine, "GetMetricData", StartTime=begin, ScanBy="TimestampAscending", **members)
        assert answer["MetricDataResults"][0]["Values"] == expected


def test_short_periods_are_answered_by_the_minute(engine: Engine) -> None:
    put(engine)
    assert values(engine, "ConsumedWriteCapacityUnits", period=10) == [1.0]


def test_unknown_tables_and_dimensions_have_no_values(engine: Engine) -> None:
    put(engine)
    assert values(engine, "ConsumedWriteCapacityUnits", TableName="nowhere") == []
    assert values(engine, "ConsumedWriteCapacityUnits", TableName="table", Colour="red") == []
    assert values(engine, "Nonsense") == []
    assert values(engine, "ProvisionedReadCapacityUnits", TableName="nowhere") == []
    assert values(engine, "ProvisionedReadCapacityUnits", period=3600, TableName="nowhere") == []


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("w / PERIOD(w)", [2 / 60]),
        ("(w + r) * 100", [250.0]),
        ("-w ^ 2", [-4.0]),
        ("SUM(METRICS())", [2.5]),
        ("AVG([w, r])", [1.25]),
        ("MAX(METRICS('r'))".replace("'", '"'), [0.5]),
        ("IF(w > 1, w, 0)", [2.0]),
        ("IF(w > 5, w)", []),
        ("w > 1 AND r > 1", [0.0]),
        ("FLOOR(r) + CEIL(r) + ABS(-1)", [2.0]),
        ("w / 0", []),
        ("1 - 2 - 3 + w * 2 / 4", [-3.0]),
    ],
)
def test_expressions_are_computed(engine: Engine, expression: str, expected: list[float]) -> None:
    put(engine)
    put(engine)
    get(engine)
    written = query("ConsumedWriteCapacityUnits", key="w")
    read = query("ConsumedReadCapacityUnits", key="r")
    found = lines(engine, written, read, {"Id": "e", "Expression": expression}, hours=0)
    assert found["e"] == pytest.approx(expected)


def test_gaps_are_filled(engine: Engine) -> None:
    for amount in (1, 0, 0, 3):
        for _ in range(amount):
            put(engine)
        engine.clock.advance(60)
    engine.clock.advance(-60)
    for filler, expected in (("0", [1, 0, 0, 3]), ("REPEAT", [1, 1, 1, 3]), ("LINEAR", [1, 5 / 3, 7 / 3, 3])):
        written = {**query("ConsumedWriteCapacityUnits", key="w"), "ReturnData": False}
        expression = {"Id": "e", "Expression": f"FILL(w, {filler})"}
        found = lines(engine, written, expression, hours=180 / 3600)
        assert found == {"e": pytest.approx(expected)}
    rate = {"Id": "e", "Expression": "RATE(w)"}
    assert lines(engine, written, rate) == {"e": [pytest.approx(2 / 180)]}


@pytest.mark.parametrize(
    "expression",
    ["w +", "nobody * 2", "WHAT(w)", "(w", "w w", "'", "e", "1;2", "PERIOD(1)", "FILL(w)", "(" * 500 + "w"],
)
def test_expressions_that_cannot_be_read_are_refused(engine: Engine, expression: str) -> None:
    with pytest.raises(ApiError) as caught:
        lines(engine, query("ConsumedWriteCapacityUnits", key="w"), {"Id": "e", "Expression": expression})
    assert caught.value.code == "ValidationException"


def test_an_expression_cannot_keep_the_server_busy(engine: Engine) -> None:
    put(engine)
    expression = {"Id": "e", "Expression": "+".join(["w"] * 200)}
    with pytest.raises(ApiError) as caught:
        lines(engine, {**query("ConsumedWriteCapacityUnits", key="w"), "ReturnData": False}, expression, hours=24 * 15)
    assert "too much to compute" in str(caught.value)


def test_queries_are_checked_before_anything_is_read(engine: Engine) -> None:
    many = [query("X", key=f"m{number}") for number in range(501)]
    expect(
        "ValidationException",
        "The collection MetricDataQueries must not have a size greater than 500.",
        lambda: lines(engine, *many),
    )
    for wrong in (
        query("X", key="Upper"),
        query("X", "p101"),
        query("X", period=61),
        {"Id": "m"},
        {"Id": "m", "Expression": "1", "MetricStat": query("X")["MetricStat"]},
    ):
        with pytest.raises(ApiError):
            lines(engine, wrong)
    with pytest.raises(ApiError):
        lines(engine, query("X"), query("X"))


def test_long_answers_come_in_pages(engine: Engine) -> None:
    for _ in range(5):
        put(engine)
        engine.clock.advance(60)
    now = engine.clock.seconds()
    members: dict[str, Any] = {
        "MetricDataQueries": [
            query("ConsumedWriteCapacityUnits", key="a"),
            query("ConsumedWriteCapacityUnits", key="b"),
        ],
        "StartTime": now - 3600,
        "EndTime": now,
        "MaxDatapoints": 3,
    }
    pages = []
    while True:
        answer = cloudwatch(engine, "GetMetricData", **members)
        pages.append([(r["Id"], len(r["Values"]), r["StatusCode"]) for r in answer["MetricDataResults"]])
        if "NextToken" not in answer:
            break
        members["NextToken"] = answer["NextToken"]
    assert pages == [
        [("a", 3, "PartialData")],
        [("a", 2, "Complete"), ("b", 1, "PartialData")],
        [("b", 3, "PartialData")],
        [("b", 1, "Complete")],
    ]
    expect(
        "InvalidNextToken",
        "The next token is not valid.",
        lambda: cloudwatch(engine, "GetMetricData", **{**members, "NextToken": "x"}),
    )


def test_metrics_that_have_values_are_listed(engine: Engine) -> None:
    put(engine)
    get(engine)
    engine.run_jobs()
    found = cloudwatch(engine, "ListMetrics", Namespace="AWS/DynamoDB")["Metrics"]
    names = {(each["MetricName"], *(d["Value"] for d in each["Dimensions"])) for each in found}
    assert ("ConsumedReadCapacityUnits", "table") in names
    assert ("SuccessfulRequestLatency", "table", "GetItem") in names
    assert ("AccountMaxReads",) in names
    assert not any(name.startswith(".") for name, *_ in names)
    of_put = cloudwatch(engine, "ListMetrics", Dimensions=[{"Name": "Operation", "Value": "PutItem"}])["Metrics"]
    assert [each["MetricName"] for each in of_put] == ["SuccessfulRequestLatency"]
    named = cloudwatch(
        engine, "ListMetrics", MetricName="ConsumedReadCapacityUnits", Dimensions=[{"Name": "TableName"}]
    )
    assert len(named["Metrics"]) == 1
    engine.clock.advance(5 * 3600)
    recent = cloudwatch(engine, "ListMetrics", MetricName="ConsumedReadCapacityUnits", RecentlyActive="PT3H")
    assert recent["Metrics"] == []


def test_metrics_are_listed_in_pages(engine: Engine) -> None:
    data = [{"MetricName": f"m{number:04}", "Value": 1.0} for number in range(700)]
    cloudwatch(engine, "PutMetricData", Namespace="Mine", MetricData=data)
    first = cloudwatch(engine, "ListMetrics", Namespace="Mine")
    second = cloudwatch(engine, "ListMetrics", Namespace="Mine", NextToken=first["NextToken"])
    found = [each["MetricName"] for each in first["Metrics"] + second["Metrics"]]
    assert found == [f"m{number:04}" for number in range(700)]
    assert len(first["Metrics"]) == 500
    assert "NextToken" not in second


def test_metrics_of_ones_own_are_kept(engine: Engine) -> None:
    now = engine.clock.seconds()
    where = dimension_list({"Host": "a", "Disk": "/"})
    cloudwatch(
        engine,
        "PutMetricData",
        Namespace="Mine",
        MetricData=[
            {"MetricName": "Load", "Dimensions": where, "Value": 3.0, "Timestamp": now - 120},
            {"MetricName": "Load", "Dimensions": where, "Values": [1.0, 9.0], "Counts": [3, 1]},
            {
                "MetricName": "Load",
                "Dimensions": where[::-1],
                "StatisticValues": {"SampleCount": 2, "Sum": 20, "Minimum": 5, "Maximum": 15},
            },
        ],
    )
    stat = {"Metric": {"Namespace": "Mine", "MetricName": "Load", "Dimensions": where}, "Period": 60}
    found = lines(
        engine, *({"Id": f"m{n}", "MetricStat": {**stat, "Stat": s}} for n, s in enumerate(("Sum", "Maximum")))
    )
    assert found == {"m0": [3.0, 32.0], "m1": [3.0, 15.0]}


@pytest.mark.parametrize(
    "datum",
    [
        {},
        {"Value": 1.0, "Values": [1.0]},
        {"Values": [1.0], "Counts": [1.0, 2.0]},
        {"Value": 1e200},
        {"Value": 1.0, "Timestamp": START - 15 * 86_400},
        {"Value": 1.0, "Timestamp": START + 3 * 3600},
    ],
)
def test_data_that_make_no_sense_are_refused(engine: Engine, datum: dict[str, Any]) -> None:
    with pytest.raises(ApiError):
        cloudwatch(engine, "PutMetricData", Namespace="Mine", MetricData=[{"MetricName": "x", **datum}])
    with pytest.raises(ApiError):
        cloudwatch(engine, "PutMetricData", Namespace="AWS/Mine", MetricData=[{"MetricName": "x", "Value": 1.0}])
