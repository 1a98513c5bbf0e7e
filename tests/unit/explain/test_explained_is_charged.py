"""What `explain` says a request costs is what it then costs: in its answer, in the metrics, and line by line."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from harness import ApiError, Engine
from hashrange import app
from hashrange.capacity.history import units_by_minute
from hashrange.capacity.ledger import CapacitySettings
from hashrange.capacity.limits import Throttling
from hashrange.engine.scope import scope_of
from hashrange.explain.explain import explain
from hashrange.explain.explanation import Step

SCOPE = scope_of("000000000000", "us-east-1")
REQUESTS = 150
TABLE = {"TableName": "table"}
ENDS_WITH_UNITS = re.compile(r"([\d.,]+) units?$")
SUMMARY = "which is a deletion and a put"  # a line that adds up the two before it

Sent = tuple[str, dict[str, Any]]


def engine_with_indexes() -> Engine:
    def index(name: str, *key: str, **projection: Any) -> dict[str, Any]:
        kinds = ("HASH", "RANGE")
        schema = [{"AttributeName": each, "KeyType": kind} for each, kind in zip(key, kinds, strict=False)]
        return {"IndexName": name, "KeySchema": schema, "Projection": projection}

    engine = Engine()
    engine.create_table(
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "gk", "lk")],
        GlobalSecondaryIndexes=[
            index("by-g", "gk", "sk", ProjectionType="INCLUDE", NonKeyAttributes=["shown"]),
            index("whole", "gk", ProjectionType="ALL"),
        ],
        LocalSecondaryIndexes=[index("by-l", "pk", "lk", ProjectionType="KEYS_ONLY")],
    )
    return engine


class Requests:
    """Requests of all kinds on a few items, from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def item(self) -> dict[str, Any]:
        pick, maybe = self._random.choice, self._random.random
        item = {"pk": pick("ab"), "sk": pick("01234"), "data": "d" * pick([1, 500, 1100, 9000])}
        for name, values in (("gk", "xy"), ("lk", "uv"), ("shown", ["s", "s" * 2000])):
            if maybe() < 0.6:
                item[name] = pick(values)
        return {name: {"S": value} for name, value in item.items()}

    def key(self) -> dict[str, Any]:
        item = self.item()
        return {"pk": item["pk"], "sk": item["sk"]}

    def several(self) -> list[dict[str, Any]]:
        items = {(item["pk"]["S"], item["sk"]["S"]): item for item in (self.item() for _ in range(4))}
        return list(items.values())

    def next(self) -> Sent:
        return self._random.choice((self.single, self.read, self.batch, self.transaction, self.statement))()

    def single(self) -> Sent:
        condition = self._random.choice(({}, {}, {"ConditionExpression": "attribute_exists(lk)"}))
        update = self._random.choice(("SET gk = shown", "REMOVE gk", "REMOVE shown, lk"))
        choices: tuple[Sent, ...] = (
            ("GetItem", {**TABLE, "Key": self.key(), "ConsistentRead": self._random.random() < 0.5}),
            ("PutItem", {**TABLE, "Item": self.item(), **condition}),
            ("UpdateItem", {**TABLE, "Key": self.key(), "UpdateExpression": update, **condition}),
            ("DeleteItem", {**TABLE, "Key": self.key(), **condition}),
        )
        return self._random.choice(choices)

    def read(self) -> Sent:
        place = self._random.choice(({}, {"IndexName": "by-l"}, {"IndexName": "by-l", "Select": "ALL_ATTRIBUTES"}))
        limit = self._random.choice(({}, {"Limit": 2}))
        mine = {"KeyConditionExpression": "pk = :k", "ExpressionAttributeValues": {":k": {"S": "a"}}}
        indexed = {"KeyConditionExpression": "gk = :k", "ExpressionAttributeValues": {":k": {"S": "x"}}}
        name = self._random.choice(("by-g", "whole"))
        choices: tuple[Sent, ...] = (
            ("Query", {**TABLE, **place, **mine, **limit, "ScanIndexForward": False}),
            ("Query", {**TABLE, "IndexName": name, **indexed, **limit}),
            ("Scan", {**TABLE, **limit}),
            ("Scan", {**TABLE, "IndexName": name, **limit}),
        )
        return self._random.choice(choices)

    def batch(self) -> Sent:
        items = self.several()
        keys = [{"pk": item["pk"], "sk": item["sk"]} for item in items]
        if self._random.random() < 0.5:
            return "BatchGetItem", {"RequestItems": {"table": {"Keys": keys, "ConsistentRead": True}}}
        puts: list[dict[str, Any]] = [{"PutRequest": {"Item": item}} for item in items[1:]]
        return "BatchWriteItem", {"RequestItems": {"table": [{"DeleteRequest": {"Key": keys[0]}}, *puts]}}

    def transaction(self) -> Sent:
        items = self.several()
        keys = [{"pk": item["pk"], "sk": item["sk"]} for item in items]
        if self._random.random() < 0.3:
            return "TransactGetItems", {"TransactItems": [{"Get": {**TABLE, "Key": key}} for key in keys]}
        check = {"ConditionCheck": {**TABLE, "Key": keys[0], "ConditionExpression": "attribute_exists(pk)"}}
        puts = [{"Put": {**TABLE, "Item": item}} for item in items[1:]]
        return "TransactWriteItems", {"TransactItems": [check, *puts]}

    def statement(self) -> Sent:
        key = self.key()
        pinned = f"pk = '{key['pk']['S']}' AND sk = '{key['sk']['S']}'"
        inserted = f"{{'pk': '{key['pk']['S']}', 'sk': '{key['sk']['S']}', 'gk': 'x'}}"
        text = self._random.choice(
            (
                f'SELECT * FROM "table" WHERE {pinned}',
                "SELECT * FROM \"table\" WHERE pk IN ['a', 'b']",
                'SELECT * FROM "table"',
                'SELECT * FROM "table"."whole" WHERE gk = \'x\'',
                f"UPDATE \"table\" SET gk = 'y' WHERE {pinned}",
                f'DELETE FROM "table" WHERE {pinned}',
                f'INSERT INTO "table" VALUE {inserted}',
            )
        )
        return "ExecuteStatement", {"Statement": text}


@pytest.mark.parametrize("seed", range(4))
def test_a_request_costs_what_was_explained(seed: int) -> None:
    engine, requests = engine_with_indexes(), Requests(seed)
    aside = app.Settings(capacity=CapacitySettings(throttling=Throttling.OFF))
    db = app.build_database(engine.store, aside, engine.clock)
    for _ in range(REQUESTS):
        operation, members = requests.next()
        explanation = explain(db, SCOPE, operation, members)
        explained = sum(step.consumed.total for step in explanation.steps)
        before = counted(engine)
        told, error = answered(engine, operation, members)
        assert (explanation.error is None) == (error is None), (operation, members)
        assert counted(engine) - before == explained, (operation, members)
        assert told in (None, explained), (operation, members)
        for step in explanation.steps:
            assert added_up(step) == step.consumed.total, step.arithmetic


def test_keys_that_find_no_room_in_a_batch_cost_nothing() -> None:
    engine = engine_with_indexes()
    keys = [{"pk": {"S": "p"}, "sk": {"S": str(number)}} for number in range(45)]
    for key in keys:
        engine.call("PutItem", **TABLE, Item={**key, "data": {"S": "x" * 400_000}})
    db = app.build_database(
        engine.store, app.Settings(capacity=CapacitySettings(throttling=Throttling.OFF)), engine.clock
    )
    [step] = explain(db, SCOPE, "BatchGetItem", {"RequestItems": {"table": {"Keys": keys}}}).steps
    assert len(step.arithmetic) == 41  # of those fit into 16 MB
    assert added_up(step) == step.consumed.total


def answered(engine: Engine, operation: str, members: dict[str, Any]) -> tuple[float | None, ApiError | None]:
    """The units that an answer tells, or the error."""
    try:
        answer = engine.call(operation, ReturnConsumedCapacity="TOTAL", **members)
    except ApiError as error:
        return None, error
    report = answer["ConsumedCapacity"]
    return sum(each["CapacityUnits"] for each in (report if isinstance(report, list) else [report])), None


def counted(engine: Engine) -> float:
    """Everything in the metrics of this minute."""
    engine.db.recorder.flush()
    minute = int(engine.clock.seconds()) // 60
    with engine.db.read() as snapshot:
        table = engine.db.table(snapshot, SCOPE, "table")
        return sum(
            sum(units_by_minute(snapshot, table, owner, kind, minute, minute + 1).values())
            for owner in (None, "by-g", "whole")
            for kind in ("Read", "Write")
        )


def added_up(step: Step) -> float:
    found = [ENDS_WITH_UNITS.search(line) for line in step.arithmetic if SUMMARY not in line]
    return sum(float(each[1].replace(",", "")) for each in found if each is not None)
