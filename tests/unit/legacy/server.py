"""A whole server without its door: tables in memory, and operations called by name."""

from __future__ import annotations

import copy
from typing import Any

import orjson

from hashrange import app
from hashrange.clock import ManualClock
from hashrange.engine.scope import scope_of
from hashrange.errors import ValidationException, Wording
from hashrange.operations.batch import batch_get_item
from hashrange.operations.items import delete_item, get_item, put_item, update_item
from hashrange.operations.operation import LongRead, Request, Write
from hashrange.operations.reads import query, scan
from hashrange.operations.tables import create_table
from hashrange.storage import write_and_wait
from hashrange.storage.memory import MemoryStore
from hashrange.validation.shape import load

Members = dict[str, Any]

OPERATIONS = {
    module.OPERATION.name: module.OPERATION
    for module in (create_table, put_item, get_item, update_item, delete_item, query, scan, batch_get_item)
}
SCOPE = scope_of("000000000000", "us-east-1")


class Server:
    """Answers requests as the door would pass them on, shapes checked."""

    def __init__(self) -> None:
        self._store = MemoryStore()
        self._db = app.build_database(self._store, app.Settings(), ManualClock())

    def call(self, operation: str, **members: Any) -> Members:
        """The answer to a request, which is left as it is."""
        shape = load("dynamodb")[operation]
        sent: Members = copy.deepcopy(members)
        if not shape.plausible(sent):
            sent = shape.explain(sent)
        answer = OPERATIONS[operation].run(self._db, Request(sent, SCOPE))
        if isinstance(answer, Write):
            answer = write_and_wait(self._store, answer.plan)
        while isinstance(answer, LongRead):
            answer = answer.step() or answer
        decoded: Members = orjson.loads(orjson.dumps(answer))
        return decoded

    def put(self, table: str, item: Members) -> None:
        self.call("PutItem", TableName=table, Item=item)

    def get(self, table: str, key: Members) -> Members | None:
        return self.call("GetItem", TableName=table, Key=key).get("Item")

    def items(self, table: str) -> list[Members]:
        found: list[Members] = self.call("Scan", TableName=table)["Items"]
        return found

    def empty(self, table: str, *key_names: str) -> None:
        for item in self.items(table):
            self.call("DeleteItem", TableName=table, Key={name: item[name] for name in key_names})


def told(error: ValidationException, operation: str, wording: Wording) -> str | None:
    """The text that a client of the operation reads."""
    return error.text(wording, envelope=OPERATIONS[operation].envelope)


def server_with_tables() -> Server:
    server = Server()
    _create(server, "plain", {"pk": "HASH"}, {"pk": "S"})
    _create(server, "scores", {"player": "HASH", "points": "RANGE"}, {"player": "S", "points": "N"})
    _create(
        server,
        "songs",
        {"artist": "HASH", "title": "RANGE"},
        {"artist": "S", "title": "S", "genre": "S", "year": "N", "country": "S", "city": "S"},
        GlobalSecondaryIndexes=[
            _index(
                "by_genre", {"genre": "HASH", "year": "RANGE"}, ProjectionType="INCLUDE", NonKeyAttributes=["label"]
            ),
            _index("by_place", {"genre": "HASH", "country": "RANGE", "city": "RANGE"}, ProjectionType="ALL"),
        ],
    )
    return server


def _create(server: Server, name: str, keys: dict[str, str], types: dict[str, str], **more: Any) -> None:
    definitions = [{"AttributeName": attribute, "AttributeType": kind} for attribute, kind in types.items()]
    server.call(
        "CreateTable",
        TableName=name,
        KeySchema=_key_schema(keys),
        AttributeDefinitions=definitions,
        BillingMode="PAY_PER_REQUEST",
        **more,
    )


def _index(name: str, keys: dict[str, str], **projection: Any) -> Members:
    return {"IndexName": name, "KeySchema": _key_schema(keys), "Projection": projection}


def _key_schema(keys: dict[str, str]) -> list[dict[str, str]]:
    return [{"AttributeName": attribute, "KeyType": kind} for attribute, kind in keys.items()]
