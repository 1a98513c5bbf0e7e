"""Asking a server in this process about its metrics."""

from typing import Any

from harness import Engine

START = 1_800_000_000  # what the clock of a new engine says
HOUR = 3600


def cloudwatch(engine: Engine, operation: str, **members: Any) -> Any:
    return engine.call(f"GraniteServiceVersion20100801.{operation}", **members)


def dimension_list(dimensions: dict[str, str]) -> list[dict[str, str]]:
    return [{"Name": name, "Value": value} for name, value in dimensions.items()]


def metric(name: str, **dimensions: str) -> dict[str, Any]:
    given = dimension_list(dimensions or {"TableName": "table"})
    return {"Namespace": "AWS/DynamoDB", "MetricName": name, "Dimensions": given}


def query(name: str, stat: str = "Sum", *, key: str = "m", period: int = 60, **dimensions: str) -> dict[str, Any]:
    return {"Id": key, "MetricStat": {"Metric": metric(name, **dimensions), "Period": period, "Stat": stat}}


def lines(engine: Engine, *queries: dict[str, Any], hours: float = 1, **members: Any) -> dict[str, list[float]]:
    """The values by id, the oldest first."""
    now = engine.clock.seconds()
    answer = cloudwatch(
        engine,
        "GetMetricData",
        MetricDataQueries=list(queries),
        StartTime=now - hours * HOUR,
        EndTime=now + 60,
        ScanBy="TimestampAscending",
        **members,
    )
    return {result["Id"]: result["Values"] for result in answer["MetricDataResults"]}


def values(engine: Engine, name: str, stat: str = "Sum", *, period: int = 60, **dimensions: str) -> list[float]:
    return lines(engine, query(name, stat, period=period, **dimensions))["m"]


def put(engine: Engine, key: str = "a", table: str = "table", **members: Any) -> Any:
    return engine.call("PutItem", TableName=table, Item={"pk": {"S": key}, "sk": {"S": "x"}}, **members)


def get(engine: Engine, key: str = "a", **members: Any) -> Any:
    return engine.call("GetItem", TableName="table", Key={"pk": {"S": key}, "sk": {"S": "x"}}, **members)
