"""PutItem: create an item, or replace the one with the same primary key."""

from __future__ import annotations

import orjson

from hashrange.engine.database import Database
from hashrange.engine.table import Changes
from hashrange.operations.items.actions import Put, carry_out, check_item_size
from hashrange.operations.items.conditions import PUT_OR_DELETE, prepare_write
from hashrange.operations.items.parameters import refuse_mixing, refuse_return_values, report_write, shows_old
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.attribute import check_attributes
from hashrange.values.types import Attributes


def put_item(db: Database, request: Request) -> Write:
    action = parse_put(request)

    def plan(snapshot: Snapshot) -> Plan:
        changes = Changes()
        outcome = carry_out(db, snapshot, request.scope, request.usage, action, changes)
        answer = report_write(request, snapshot, outcome, changes.consumed, action.attributes)
        if outcome.old is not None and request.get("ReturnValues") == "ALL_OLD":
            answer["Attributes"] = outcome.old.fragment
        return changes.answering(answer)

    return Write(plan)


def parse_put(request: Request) -> Put:
    """Everything about a put that can be checked before its table is known."""
    members = request.members
    refuse_mixing(members.keys(), ("Expected",), ("ConditionExpression",))
    attributes: Attributes = members["Item"]
    size_bytes = check_attributes(attributes)
    refuse_return_values(request)
    check_item_size(size_bytes)
    prepared = prepare_write(request, PUT_OR_DELETE)
    return Put(members["TableName"], attributes, orjson.dumps(attributes), size_bytes, prepared, shows_old(request))


OPERATION = Operation(name="PutItem", run=put_item, envelope=True)
