"""ExecuteTransaction: up to a hundred statements on single items, all or none; all reads or all writes.

EXISTS goes with writes: it is their condition check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.table import Table
from hashrange.engine.units import Consumed
from hashrange.errors import ValidationException
from hashrange.operations.items.actions import Action
from hashrange.operations.items.parameters import shows_old
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.partiql.actions import ActionMaker, ItemRead, action_maker, check_of, item_read
from hashrange.operations.partiql.find import NO_SUCH_INDEX, find_table
from hashrange.operations.transactions.idempotency import digest_of, remember, was_carried_out
from hashrange.operations.transactions.transact_get_items import Get, read_together
from hashrange.operations.transactions.transact_write_items import check_size
from hashrange.operations.transactions.transaction import Transaction
from hashrange.partiql import Delete, Exists, Prepared, Select, UpdateStatement, prepare
from hashrange.storage.interface import Plan, Snapshot

MIXED = "ExecuteTransaction API does not support both read and write operations in the same request."
NO_RETURNING = "RETURNING clause is not supported in ExecuteTransaction."
NO_INDEX = "Reads on indices are not supported within transactions."
KEY_REQUIRED = "Select statements within ExecuteTransaction must specify the primary key in the where clause."
EXISTS_CHECKS = "EXISTS() must contain a single item read with additional condition"


@dataclass(frozen=True, slots=True)
class Part:
    """One statement of the transaction. `make_action` is that of an INSERT, UPDATE or DELETE."""

    number: int
    prepared: Prepared
    shows_old: bool
    make_action: ActionMaker | None

    def refusal(self, text: str) -> ValidationException:
        return ValidationException(f"Validation failed in TransactStatements[{self.number}]: {text}")


def execute_transaction(db: Database, request: Request) -> dict[str, Any] | Write:
    token = request.get("ClientRequestToken")
    digest = digest_of(request["TransactStatements"]) if token else ""
    parts = [
        parse_part(number, Request(members, request.scope))
        for number, members in enumerate(request["TransactStatements"])
    ]
    kinds = {isinstance(part.prepared.body, Select) for part in parts}
    if len(kinds) > 1:
        raise ValidationException(MIXED)
    for part in parts:
        refuse_returning(part)
    if True in kinds:
        return read_all(db, request, parts)
    return Write(lambda snapshot: write_all(db, snapshot, request, parts, token, digest))


def parse_part(number: int, request: Request) -> Part:
    """Everything about a statement that can be checked before its table is known."""
    prepared = prepare(request["Statement"], request.get("Parameters"))
    shows = shows_old(request)
    is_write = not isinstance(prepared.body, Select | Exists)
    return Part(number, prepared, shows, action_maker(prepared, shows_old=shows) if is_write else None)


def refuse_returning(part: Part) -> None:
    body = part.prepared.body
    if isinstance(body, UpdateStatement | Delete) and body.returning != "NONE":
        raise part.refusal(NO_RETURNING)


def read_all(db: Database, request: Request, parts: Sequence[Part]) -> dict[str, Any]:
    with db.read() as snapshot:
        reads = [read_of(db, snapshot, request, part) for part in parts]
        gets = [Get(read.table_name, read.key, None) for read in reads]
        items, consumed = read_together(db, snapshot, request, gets)
    shown = [read.shown(item) for read, item in zip(reads, items, strict=True)]
    answer: dict[str, Any] = {"Responses": [{} if item is None else {"Item": item} for item in shown]}
    return {**answer, **report_units(request, consumed, "ReadCapacityUnits")}


def read_of(db: Database, snapshot: Snapshot, request: Request, part: Part) -> ItemRead:
    select = part.prepared.body
    assert isinstance(select, Select)
    table = readable_table(db, snapshot, request, part, select)
    read = item_read(table, select, part.prepared.values)
    if read is None:
        raise part.refusal(KEY_REQUIRED)
    return read


def readable_table(db: Database, snapshot: Snapshot, request: Request, part: Part, select: Select) -> Table:
    """The table of a SELECT. An index is refused, but one that does not exist is told first."""
    table = db.table(snapshot, request.scope, select.table.name)
    if select.table.index is None:
        return table
    if table.index(select.table.index) is None:
        raise ValidationException(NO_SUCH_INDEX)
    raise part.refusal(NO_INDEX)


def write_all(
    db: Database, snapshot: Snapshot, request: Request, parts: Sequence[Part], token: str | None, digest: str
) -> Plan:
    actions = [action_of(db, snapshot, request, part) for part in parts]
    check_size(actions)
    transaction = Transaction(db, snapshot, request.scope, request.usage, actions)
    now = db.clock.micros()
    responses: dict[str, Any] = {"Responses": [{} for _ in parts]}
    if token and was_carried_out(snapshot, request.scope, token, digest, now):
        return Plan(answer={**responses, **report_units(request, transaction.replay(), "ReadCapacityUnits")})
    transaction.carry_out()
    changes = transaction.changes
    if token:
        changes.mutations.extend(remember(request.scope, token, digest, now))
    return changes.answering({**responses, **report_units(request, transaction.consumed, "WriteCapacityUnits")})


def action_of(db: Database, snapshot: Snapshot, request: Request, part: Part) -> Action:
    body = part.prepared.body
    if part.make_action is not None:
        return part.make_action(find_table(db, snapshot, request.scope, body.table))
    assert isinstance(body, Exists)
    table = readable_table(db, snapshot, request, part, body.select)
    check = check_of(table, body, part.prepared.values, shows_old=part.shows_old)
    if check is None:
        raise part.refusal(EXISTS_CHECKS)
    return check


def report_units(request: Request, consumed: dict[str, tuple[Table, Consumed]], kind: str) -> dict[str, Any]:
    level = request.get("ReturnConsumedCapacity", "NONE")
    if level == "NONE":
        return {}
    return {"ConsumedCapacity": [units.report(level, table.name, kind=kind) for table, units in consumed.values()]}


OPERATION = Operation(name="ExecuteTransaction", run=execute_transaction)
