"""BatchExecuteStatement: up to twenty-five statements on single items, all reads or all writes.

Each statement succeeds or fails for itself, and the answer tells which did. Only a batch that mixes reads with writes,
or that means one item twice, is refused as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.table import Changes, Table
from hashrange.engine.units import Consumed, write_units
from hashrange.engine.usage import READ, Use
from hashrange.errors import (
    AccessDeniedException,
    ClientError,
    ConditionalCheckFailedException,
    DuplicateItemException,
    ItemCollectionSizeLimitExceededException,
    ProvisionedThroughputExceededException,
    RequestLimitExceeded,
    ResourceNotFoundException,
    Throttled,
    ThrottlingException,
    TransactionConflictException,
    ValidationException,
)
from hashrange.operations.batch.batch_get_item import DUPLICATES
from hashrange.operations.items.actions import Action, carry_out_on
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.partiql.actions import ActionMaker, ItemRead, action_maker, item_read
from hashrange.operations.partiql.find import find_source, find_table
from hashrange.partiql import Exists, Prepared, Select, prepare
from hashrange.storage.interface import Plan, Snapshot

MIXED = "Read and write requests together in the same batch is not supported."
KEY_REQUIRED = "Select statements within BatchExecuteStatement must specify the primary key in the where clause."

CODES: dict[type[ClientError], str] = {
    AccessDeniedException: "AccessDenied",
    ValidationException: "ValidationError",
    ConditionalCheckFailedException: "ConditionalCheckFailed",
    DuplicateItemException: "DuplicateItem",
    ResourceNotFoundException: "ResourceNotFound",
    ItemCollectionSizeLimitExceededException: "ItemCollectionSizeLimitExceeded",
    ProvisionedThroughputExceededException: "ProvisionedThroughputExceeded",
    RequestLimitExceeded: "RequestLimitExceeded",
    TransactionConflictException: "TransactionConflict",
    ThrottlingException: "ThrottlingError",
}
FAILURES = tuple(CODES)


@dataclass(slots=True)
class Part:
    """One statement of the batch. What failed has an error; what was located has a table and a key."""

    request: Request
    prepared: Prepared | None = None
    make_action: ActionMaker | None = None
    error: ClientError | None = None
    table: Table | None = None
    base_key: bytes = b""
    located: Action | ItemRead | None = None
    response: dict[str, Any] = field(default_factory=dict)


def batch_execute_statement(db: Database, request: Request) -> dict[str, Any] | Write:
    parts = [parse_part(Request(members, request.scope)) for members in request["Statements"]]
    for number, refusal in request.refused.items():
        parts[number] = Part(parts[number].request, error=refusal)
    kinds = {isinstance(part.prepared.body, Select) for part in parts if part.prepared is not None}
    if len(kinds) > 1:
        raise ValidationException(MIXED)
    if True in kinds:
        with db.read() as snapshot:
            return read_all(db, snapshot, request, parts)
    return Write(lambda snapshot: write_all(db, snapshot, request, parts))


def parse_part(request: Request) -> Part:
    """Everything about a statement that can be checked before its table is known."""
    part = Part(request)
    try:
        prepared = prepare(request["Statement"], request.get("Parameters"))
        if isinstance(prepared.body, Exists):
            raise ValidationException(prepared.body.refusal)
        if not isinstance(prepared.body, Select):
            part.make_action = action_maker(prepared, shows_old=False)
        part.prepared = prepared
    except FAILURES as error:
        part.error = error
    return part


def read_all(db: Database, snapshot: Snapshot, request: Request, parts: Sequence[Part]) -> dict[str, Any]:
    locate_all(db, snapshot, parts)
    consumed: dict[str, tuple[Table, Consumed]] = {}
    for part in parts:
        if isinstance(part.located, ItemRead):
            assert part.table is not None
            item = part.table.get(snapshot, part.base_key)
            units = Consumed(part.located.units(item, consistent=part.request.get("ConsistentRead", False)))
            try:
                db.spend(request.usage, Use(part.table, READ, units, part.base_key, (part.located.key,)))
            except FAILURES as error:
                part.error = error
                continue
            shown = part.located.shown(item)
            part.response = {"TableName": part.table.name} if shown is None else _found(part.table, shown)
            consumed.setdefault(part.table.arn, (part.table, Consumed()))[1].include(units)
    return answer(request, parts, consumed)


def _found(table: Table, shown: Any) -> dict[str, Any]:
    return {"TableName": table.name, "Item": shown}


def write_all(db: Database, snapshot: Snapshot, request: Request, asked: Sequence[Part]) -> Plan:
    """The statements are independent, so each is decided on what was there before the batch."""
    parts = [Part(part.request, part.prepared, part.make_action, part.error) for part in asked]  # plans may run again
    request.usage.begin()
    locate_all(db, snapshot, parts)
    changes = Changes()
    consumed: dict[str, tuple[Table, Consumed]] = {}
    succeeded: set[str] = set()
    for part in parts:
        if part.located is None or isinstance(part.located, ItemRead):
            continue
        assert part.table is not None
        arm = consumed.setdefault(part.table.arn, (part.table, Consumed()))[1]
        changes.begin()
        try:
            carry_out_on(db, request.usage, part.table, part.base_key, snapshot, part.located, changes)
        except FAILURES as error:
            part.error = error
            changes.undo()
            if not isinstance(error, Throttled):
                arm.table += write_units(part.table.size_of(snapshot, part.base_key) or 0)
            continue
        succeeded.add(part.table.arn)
        part.response = {"TableName": part.table.name}
        arm.include(changes.consumed)
    return changes.answering(answer(request, parts, {arn: consumed[arn] for arn in consumed if arn in succeeded}))


def locate_all(db: Database, snapshot: Snapshot, parts: Sequence[Part]) -> None:
    """Find the item of every statement; no item may be meant twice."""
    for part in parts:
        if part.prepared is not None:
            try:
                locate(db, snapshot, part, part.prepared)
            except FAILURES as error:
                part.error = error
    meant = [
        (part.table.definition.id, part.base_key)
        for part in parts
        if part.located is not None and part.table is not None
    ]
    if len(set(meant)) < len(meant):
        raise ValidationException(DUPLICATES)


def locate(db: Database, snapshot: Snapshot, part: Part, prepared: Prepared) -> None:
    scope, body = part.request.scope, prepared.body
    located: Action | ItemRead | None
    if isinstance(body, Select):
        consistent = part.request.get("ConsistentRead", False)
        part.table = find_source(db, snapshot, scope, body.table, consistent=consistent).table
        located = item_read(part.table, body, prepared.values)
        if located is None:
            raise ValidationException(KEY_REQUIRED)
    else:
        assert part.make_action is not None
        part.table = find_table(db, snapshot, scope, body.table)
        located = part.make_action(part.table)
    part.base_key = located.locate(part.table)
    part.located = located


def answer(request: Request, parts: Sequence[Part], consumed: dict[str, tuple[Table, Consumed]]) -> dict[str, Any]:
    members: dict[str, Any] = {"Responses": [response_of(part) for part in parts]}
    level = request.get("ReturnConsumedCapacity", "NONE")
    if level != "NONE":
        members["ConsumedCapacity"] = [units.report(level, table.name) for table, units in consumed.values()]
    return members


def response_of(part: Part) -> dict[str, Any]:
    if part.error is None:
        return part.response
    code = next(code for kind, code in CODES.items() if isinstance(part.error, kind))
    response: dict[str, Any] = {"Error": {"Code": code, "Message": part.error.message}}
    if part.table is not None:
        response["TableName"] = part.table.name
    return response


OPERATION = Operation(name="BatchExecuteStatement", run=batch_execute_statement)
