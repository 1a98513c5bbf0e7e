"""TransactWriteItems: put, update, delete and check up to a hundred items, all or none."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.table import ItemChange, Table
from hashrange.engine.units import Consumed
from hashrange.errors import ValidationException
from hashrange.limits import TRANSACTION_BYTES_MAX
from hashrange.operations.items.actions import Action, Check
from hashrange.operations.items.conditions import PUT_OR_DELETE, prepare_write
from hashrange.operations.items.delete_item import parse_delete
from hashrange.operations.items.parameters import collection_metrics, shows_old
from hashrange.operations.items.put_item import parse_put
from hashrange.operations.items.update_item import parse_update
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.transactions.idempotency import digest_of, remember, was_carried_out
from hashrange.operations.transactions.transaction import Transaction
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.attribute import check_attributes

ONE_OF = "TransactItems can only contain one of Check, Put, Update or Delete"


def transact_write_items(db: Database, request: Request) -> Write:
    token = request.get("ClientRequestToken")
    digest = digest_of(request["TransactItems"]) if token else ""
    actions = [parse_action(element, request) for element in request["TransactItems"]]
    check_size(actions)

    def plan(snapshot: Snapshot) -> Plan:
        transaction = Transaction(db, snapshot, request.scope, request.usage, actions)
        now = db.clock.micros()
        if token and was_carried_out(snapshot, request.scope, token, digest, now):
            return Plan(answer=report(request, snapshot, transaction.replay(), "ReadCapacityUnits", []))
        outcomes = transaction.carry_out()
        changes = transaction.changes
        if token:
            changes.mutations.extend(remember(request.scope, token, digest, now))
        return changes.answering(report(request, snapshot, transaction.consumed, "WriteCapacityUnits", outcomes))

    return Write(plan)


def parse_action(element: dict[str, Any], request: Request) -> Action:
    if len(element) != 1:
        raise ValidationException(ONE_OF)
    [(kind, members)] = element.items()
    part = Request(members, request.scope)
    if kind == "Put":
        return parse_put(part)
    if kind == "Update":
        return parse_update(part, counts_actions=False)
    if kind == "Delete":
        return parse_delete(part)
    check_attributes(members["Key"])
    return Check(members["TableName"], members["Key"], prepare_write(part, PUT_OR_DELETE), shows_old(part))


def check_size(actions: list[Action]) -> None:
    """The request itself is limited, not the items that it changes."""
    if sum(action.request_bytes() for action in actions) > TRANSACTION_BYTES_MAX:
        raise ValidationException("Aggregated size of the items in the transaction size cannot exceed 4 MB")


def report(
    request: Request,
    snapshot: Snapshot,
    consumed: dict[str, tuple[Table, Consumed]],
    kind: str,
    outcomes: list[ItemChange],
) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    level = request.get("ReturnConsumedCapacity", "NONE")
    if level != "NONE":
        answer["ConsumedCapacity"] = [units.report(level, table.name, kind=kind) for table, units in consumed.values()]
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        metrics = metrics_of(snapshot, outcomes)
        if metrics:
            answer["ItemCollectionMetrics"] = metrics
    return answer


def metrics_of(snapshot: Snapshot, outcomes: list[ItemChange]) -> dict[str, list[dict[str, Any]]]:
    metrics: dict[str, list[dict[str, Any]]] = {}
    for outcome in outcomes:
        item = outcome.new or outcome.old
        is_written = outcome.new is not outcome.old  # a check is not
        if outcome.table.definition.local_indexes and item is not None and is_written:
            metrics.setdefault(outcome.table.name, []).append(collection_metrics(snapshot, outcome, item.attributes))
    return metrics


OPERATION = Operation(name="TransactWriteItems", run=transact_write_items)
