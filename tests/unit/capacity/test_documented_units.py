"""Requests cost what the examples of the DynamoDB Developer Guide say, and that is what is taken and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import ApiError, Engine
from hashrange.capacity.history import units_by_minute
from hashrange.engine.scope import scope_of

CASES = json.loads((Path(__file__).parents[2] / "cases/capacity/documented_units.json").read_text())
ATTRIBUTES = ("pk", "sk", "ik")
READS = ("GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan", "ExecuteStatement")
NO_TABLE_NAME = ("BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems", "ExecuteStatement")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["example"][:60])
def test_a_request_costs_what_the_documentation_says(case: dict[str, Any]) -> None:
    engine = engine_with(case.get("index"))
    for given in case["items"]:
        for number in range(given.get("times", 1)):
            name = f"{given['name']}{number:04}" if "times" in given else given["name"]
            put_given(engine, name, given)
    for call in case["calls"]:
        kind = "Read" if call["operation"] in READS else "Write"
        before = counted(engine, kind, "index" if is_global(case) else None)
        assert consumed(engine, call) == expected(call), call
        after = counted(engine, kind, "index" if is_global(case) else None)
        assert after - before == call["units"], f"{call}: what was counted is not what was told"


def engine_with(index: dict[str, Any] | None) -> Engine:
    engine = Engine()
    members: dict[str, Any] = {}
    if index is not None:
        local = index.get("local", False)
        key = [{"AttributeName": "ik", "KeyType": "HASH"}]
        if local:
            key = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "ik", "KeyType": "RANGE"}]
        members["LocalSecondaryIndexes" if local else "GlobalSecondaryIndexes"] = [
            {"IndexName": "index", "KeySchema": key, "Projection": index["projection"]}
        ]
        members["AttributeDefinitions"] = [{"AttributeName": name, "AttributeType": "S"} for name in ATTRIBUTES]
    engine.create_table(**members)
    return engine


def is_global(case: dict[str, Any]) -> bool:
    return "index" in case and not case["index"].get("local", False)


def put_given(engine: Engine, name: str, given: dict[str, Any]) -> None:
    item = item_of(name, given["bytes"], given.get("indexed"))
    if "rest_bytes" in given:
        item["rest"] = {"S": "x" * (given["rest_bytes"] - len("rest"))}
    engine.call("PutItem", TableName="table", Item=item)


def item_of(name: str, size_bytes: int, indexed: str | None = None) -> dict[str, Any]:
    """An item of exactly that size: names and values together."""
    item = {"pk": {"S": "p"}, "sk": {"S": name}}
    if indexed is not None:
        item["ik"] = {"S": indexed}
    used = sum(len(attribute) + len(value["S"]) for attribute, value in item.items())
    item["filler"] = {"S": "x" * (size_bytes - used - len("filler"))}
    return item


def resolved(value: Any) -> Any:
    """A request with its keys and items put in."""
    match value:
        case {"$key": name}:
            return {"pk": {"S": "p"}, "sk": {"S": name}}
        case {"$item": [*arguments]}:
            return item_of(*arguments)
        case dict():
            return {name: resolved(member) for name, member in value.items()}
        case list():
            return [resolved(member) for member in value]
        case _:
            return value


def consumed(engine: Engine, call: dict[str, Any]) -> dict[str, float]:
    """The units that the answer tells; of a request that fails, nothing."""
    request = resolved(call["request"])
    if call["operation"] not in NO_TABLE_NAME:
        request["TableName"] = "table"
    try:
        answer = engine.call(call["operation"], ReturnConsumedCapacity="INDEXES", **request)
    except ApiError as error:
        if error.code != call.get("fails"):
            raise
        return {}
    report = answer["ConsumedCapacity"]
    if isinstance(report, list):
        [report] = report
    indexes = {**report.get("GlobalSecondaryIndexes", {}), **report.get("LocalSecondaryIndexes", {})}
    units = {"units": report["CapacityUnits"]}
    if "table" in call:
        units["table"] = report["Table"]["CapacityUnits"]
        units["index"] = sum(arm["CapacityUnits"] for arm in indexes.values())
    return units


def expected(call: dict[str, Any]) -> dict[str, float]:
    if "fails" in call:
        return {}
    return {name: call[name] for name in ("units", "table", "index") if name in call}


def counted(engine: Engine, kind: str, index: str | None) -> float:
    """The units in the metrics of the table, with those of its global index."""
    engine.db.recorder.flush()
    minute = int(engine.clock.seconds()) // 60
    with engine.db.read() as snapshot:
        table = engine.db.table(snapshot, scope_of("000000000000", "us-east-1"), "table")
        owners = {None, index}
        return sum(sum(units_by_minute(snapshot, table, owner, kind, minute, minute + 1).values()) for owner in owners)
