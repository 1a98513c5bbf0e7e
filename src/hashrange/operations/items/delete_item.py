"""DeleteItem: delete one item by its primary key."""

from __future__ import annotations

from hashrange.engine.database import Database
from hashrange.engine.table import Changes
from hashrange.operations.items.actions import Delete, carry_out
from hashrange.operations.items.conditions import PUT_OR_DELETE, prepare_write
from hashrange.operations.items.parameters import refuse_mixing, refuse_return_values, report_write, shows_old
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.attribute import check_attributes
from hashrange.values.types import Attributes


def delete_item(db: Database, request: Request) -> Write:
    action = parse_delete(request)

    def plan(snapshot: Snapshot) -> Plan:
        changes = Changes()
        outcome = carry_out(db, snapshot, request.scope, request.usage, action, changes)
        answer = report_write(request, snapshot, outcome, changes.consumed, action.key)
        if outcome.old is not None and request.get("ReturnValues") == "ALL_OLD":
            answer["Attributes"] = outcome.old.fragment
        return changes.answering(answer)

    return Write(plan)


def parse_delete(request: Request) -> Delete:
    """Everything about a deletion that can be checked before its table is known."""
    members = request.members
    refuse_mixing(members.keys(), ("Expected",), ("ConditionExpression",))
    key: Attributes = members["Key"]
    check_attributes(key)
    refuse_return_values(request)
    prepared = prepare_write(request, PUT_OR_DELETE)
    return Delete(members["TableName"], key, prepared, shows_old(request))


OPERATION = Operation(name="DeleteItem", run=delete_item, envelope=True)
