"""UpdateItem: change some attributes of an item, creating it if there is none."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.table import Changes
from hashrange.expressions import Update
from hashrange.operations.items.actions import NOTHING, Change, carry_out
from hashrange.operations.items.conditions import UPDATE, prepare_write
from hashrange.operations.items.parameters import refuse_mixing, report_write, shows_old
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.attribute import check_attributes
from hashrange.values.item import Item
from hashrange.values.types import Attributes


def update_item(db: Database, request: Request) -> Write:
    action = parse_update(request)

    def plan(snapshot: Snapshot) -> Plan:
        changes = Changes()
        outcome = carry_out(db, snapshot, request.scope, request.usage, action, changes)
        answer = report_write(request, snapshot, outcome, changes.consumed, action.key)
        wanted = request.get("ReturnValues", "NONE")
        attributes = returned_values(wanted, action.prepared.update, outcome.old, outcome.new)
        if attributes is not None:
            answer["Attributes"] = attributes
        return changes.answering(answer)

    return Write(plan)


def parse_update(request: Request, *, counts_actions: bool = True) -> Change:
    """Everything about an update that can be checked before its table is known."""
    members = request.members
    refuse_mixing(members.keys(), ("AttributeUpdates", "Expected"), ("UpdateExpression", "ConditionExpression"))
    key: Attributes = members["Key"]
    check_attributes(key)
    prepared = prepare_write(request, UPDATE)
    return Change(members["TableName"], key, prepared, shows_old(request), counts_actions)


def returned_values(wanted: str, update: Update | None, old: Item | None, new: Item | None) -> Any:
    """The Attributes member that ReturnValues asks for; None to leave it out."""
    if wanted == "NONE":
        return None
    seen = old if wanted.endswith("OLD") else new
    if wanted.startswith("ALL"):
        return None if seen is None else seen.fragment
    if update is None:
        return None
    return update.project(seen.attributes if seen is not None else NOTHING) or None


OPERATION = Operation(name="UpdateItem", run=update_item, envelope=True)
