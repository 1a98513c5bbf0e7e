"""BatchWriteItem: put and delete up to twenty-five items, in any number of tables."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.table import Changes, Table
from hashrange.engine.units import Consumed
from hashrange.errors import Throttled, ValidationException
from hashrange.expressions import NO_EXPRESSIONS
from hashrange.limits import BATCH_WRITE_REQUESTS_MAX
from hashrange.operations.batch.batch_get_item import DUPLICATES
from hashrange.operations.items.actions import Delete, Put, carry_out_on, new_put
from hashrange.operations.items.parameters import collection_metrics
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.attribute import SEVERAL_TYPES, check_attributes


def batch_write_item(db: Database, request: Request) -> Write:
    wanted: dict[str, list[dict[str, Any]]] = request["RequestItems"]
    if sum(map(len, wanted.values())) > BATCH_WRITE_REQUESTS_MAX:
        raise ValidationException("Too many items requested for the BatchWriteItem call")
    actions = [parse_element(name, element) for name, elements in wanted.items() for element in elements]

    def plan(snapshot: Snapshot) -> Plan:
        request.usage.begin()
        located = locate(db, snapshot, request, actions)
        changes = Changes()
        tables: dict[str, tuple[Table, Consumed]] = {}
        metrics: dict[str, list[dict[str, Any]]] = {}
        unprocessed: list[tuple[Put | Delete, Throttled]] = []
        measuring = request.get("ReturnItemCollectionMetrics") == "SIZE"
        for action, (table, base_key) in zip(actions, located, strict=True):
            changes.begin()
            try:
                outcome = carry_out_on(db, request.usage, table, base_key, snapshot, action, changes)
            except Throttled as error:
                changes.undo()
                unprocessed.append((action, error))
                continue
            tables.setdefault(table.arn, (table, Consumed()))[1].include(changes.consumed)
            if measuring and table.definition.local_indexes:
                key = action.attributes if isinstance(action, Put) else action.key
                metrics.setdefault(action.table_name, []).append(collection_metrics(snapshot, outcome, key))
        if len(unprocessed) == len(actions):
            raise unprocessed[0][1]
        return changes.answering(answer(request, tables, metrics, [action for action, _ in unprocessed]))

    return Write(plan)


def parse_element(table_name: str, element: dict[str, Any]) -> Put | Delete:
    """One write request: a put or a deletion, and exactly one of them."""
    if len(element) != 1:
        raise ValidationException(SEVERAL_TYPES)
    if "PutRequest" in element:
        return new_put(table_name, element["PutRequest"]["Item"])
    key = element["DeleteRequest"]["Key"]
    check_attributes(key)
    return Delete(table_name, key, NO_EXPRESSIONS)


def element_of(action: Put | Delete) -> dict[str, Any]:
    """A write request again, for the client to send once more."""
    if isinstance(action, Put):
        return {"PutRequest": {"Item": action.attributes}}
    return {"DeleteRequest": {"Key": action.key}}


def locate(
    db: Database, snapshot: Snapshot, request: Request, actions: list[Put | Delete]
) -> list[tuple[Table, bytes]]:
    """Table and key of each element; every one is checked before anything is written, and none may repeat."""
    tables = {name: db.table(snapshot, request.scope, name) for name in request["RequestItems"]}
    located = [(table := tables[action.table_name], action.locate(table)) for action in actions]
    if len({(table.definition.id, base_key) for table, base_key in located}) < len(located):
        raise ValidationException(DUPLICATES)
    return located


def answer(
    request: Request,
    tables: dict[str, tuple[Table, Consumed]],
    metrics: dict[str, list[dict[str, Any]]],
    unprocessed: list[Put | Delete],
) -> dict[str, Any]:
    left: dict[str, list[dict[str, Any]]] = {}
    for action in unprocessed:
        left.setdefault(action.table_name, []).append(element_of(action))
    members: dict[str, Any] = {"UnprocessedItems": left}
    level = request.get("ReturnConsumedCapacity", "NONE")
    if level != "NONE":
        members["ConsumedCapacity"] = [consumed.report(level, table.name) for table, consumed in tables.values()]
    if metrics:
        members["ItemCollectionMetrics"] = metrics
    return members


OPERATION = Operation(name="BatchWriteItem", run=batch_write_item)
