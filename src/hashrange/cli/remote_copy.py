"""As much of a server's database as one request touches, copied into memory.

What is explained about a request through an endpoint is explained about the copy, so that a write can be planned and
nothing of it reaches the server. Making the copy reads from the server, and costs there what reads cost.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from typing import Any

from hashrange import app
from hashrange.cli.endpoint import Endpoint, Refused, call, headers_for
from hashrange.cli.item_lines import creation_of
from hashrange.cli.options import ConfigurationError
from hashrange.clock import SystemClock
from hashrange.engine.database import Database
from hashrange.engine.scope import Scope, scope_of
from hashrange.engine.table import Changes
from hashrange.operations.items.actions import decide, new_put
from hashrange.operations.operation import Request, Write
from hashrange.operations.tables import create_table
from hashrange.storage import Plan, Snapshot, write_and_wait
from hashrange.storage.memory import MemoryStore
from hashrange.validation.shape import load

PAGES_MAX = 8  # of a range; the explanation says that there is more
RANGE_MEMBERS = (
    "TableName",
    "IndexName",
    "KeyConditionExpression",
    "KeyConditions",
    "ExclusiveStartKey",
    "ScanIndexForward",
    "Segment",
    "TotalSegments",
    "ConsistentRead",
)
PLACEHOLDER = re.compile(r"[#:][A-Za-z0-9_]+")

Wire = dict[str, Any]


class RemoteCopy:
    """Copies tables and items of a server into a database in memory."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._endpoint = Endpoint(arguments.endpoint, arguments.region)
        self._headers = headers_for(arguments.account, arguments.region)
        self.scope: Scope = scope_of(arguments.account, arguments.region)
        self.db: Database = app.build_database(MemoryStore(), app.Settings(), SystemClock())
        self.is_complete = True
        self._keys: dict[str, list[str]] = {}  # names of the key attributes, by table

    def close(self) -> None:
        self._endpoint.close()

    def take(self, operation: str, members: Wire) -> None:
        """Copy what a request touches. What is wrong with the request is left for others to find."""
        if operation in ("Query", "Scan"):
            self._take_range(operation, members)
            return
        try:
            named = list(named_items(operation, members))
        except (KeyError, TypeError, AttributeError, ValueError):
            return
        for table, attributes in named:
            if self._take_table(table):
                self._take_item(table, attributes)

    def _take_table(self, name: str) -> bool:
        """Whether there is such a table; it is made here, too."""
        if name in self._keys:
            return True
        try:
            description = self._call("DescribeTable", TableName=name)["Table"]
        except Refused:
            return False
        self._keys[name] = [element["AttributeName"] for element in description["KeySchema"]]
        wanted = {**creation_of(description), "TableName": description["TableName"]}
        request = Request(load("dynamodb")["CreateTable"].explain(wanted), self.scope)
        answer = create_table.OPERATION.run(self.db, request)
        assert isinstance(answer, Write)
        write_and_wait(self.db.store, answer.plan)
        return True

    def _take_item(self, table: str, attributes: Wire) -> None:
        key = {name: attributes[name] for name in self._keys[table] if name in attributes}
        try:
            found = self._call("GetItem", TableName=table, Key=key, ConsistentRead=True)
        except Refused:
            return
        if "Item" in found:
            self._put(table, [found["Item"]])

    def _take_range(self, operation: str, members: Wire) -> None:
        table = members.get("TableName", "")
        if not isinstance(table, str) or not table or not self._take_table(table):
            return
        wanted = range_request(members, self._local_indexes(table))
        for _ in range(PAGES_MAX):
            try:
                page = self._call(operation, **wanted)
            except Refused:
                return
            self._put(table, page["Items"])
            if "LastEvaluatedKey" not in page:
                return
            wanted["ExclusiveStartKey"] = page["LastEvaluatedKey"]
        self.is_complete = False

    def _local_indexes(self, table: str) -> set[str]:
        with self.db.read() as snapshot:
            return {index.name for index in self.db.table(snapshot, self.scope, table).definition.local_indexes}

    def _put(self, table_name: str, items: Iterable[Wire]) -> None:
        def plan(snapshot: Snapshot) -> Plan:
            table = self.db.table(snapshot, self.scope, table_name)
            changes = Changes()
            for item in items:
                put = new_put(table_name, item)
                decide(table, put.locate(table), snapshot, put, self.db.clock.micros(), changes)
            return changes.answering(None)

        write_and_wait(self.db.store, plan)

    def _call(self, operation: str, **members: Any) -> Wire:
        return call(self._endpoint, self._headers, "dynamodb", operation, members)


def named_items(operation: str, members: Wire) -> Iterator[tuple[str, Wire]]:
    """The tables and items that a request names by their keys."""
    match operation:
        case "GetItem" | "UpdateItem" | "DeleteItem":
            yield members["TableName"], members["Key"]
        case "PutItem":
            yield members["TableName"], members["Item"]
        case "BatchGetItem":
            yield from ((table, key) for table, get in members["RequestItems"].items() for key in get["Keys"])
        case "BatchWriteItem":
            for table, elements in members["RequestItems"].items():
                yield from ((table, *next(iter(element.values())).values()) for element in elements)
        case "TransactGetItems" | "TransactWriteItems":
            for element in members["TransactItems"]:
                action = next(iter(element.values()))
                yield action["TableName"], action.get("Key") or action["Item"]
        case _:
            raise ConfigurationError(f"{operation} is explained on a data directory only: give --data.")


def range_request(members: Wire, local_indexes: set[str]) -> Wire:
    """A request that reads the same range whole: without filter, projection and limit, and what only they use."""
    wanted = {name: members[name] for name in RANGE_MEMBERS if name in members}
    used = set(PLACEHOLDER.findall(str(members.get("KeyConditionExpression", ""))))
    for name in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        given = members.get(name)
        kept = {key: value for key, value in given.items() if key in used} if isinstance(given, dict) else {}
        if kept:
            wanted[name] = kept
    if members.get("IndexName") in local_indexes:
        wanted["Select"] = "ALL_ATTRIBUTES"
    return wanted
