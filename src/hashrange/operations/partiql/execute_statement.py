"""ExecuteStatement: carry out one PartiQL statement, a read or the write of a single item."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.table import Changes
from hashrange.errors import ValidationException
from hashrange.operations.items.actions import carry_out_on
from hashrange.operations.items.parameters import report_consumed, shows_old
from hashrange.operations.operation import LongRead, Operation, Request, Write
from hashrange.operations.partiql.actions import action_maker, returned_items
from hashrange.operations.partiql.find import find_table
from hashrange.operations.partiql.next_token import digest_of
from hashrange.operations.partiql.select import execute_select
from hashrange.partiql import Exists, Prepared, Select, prepare
from hashrange.storage.interface import Plan, Snapshot


def execute_statement(db: Database, request: Request) -> dict[str, Any] | LongRead | Write:
    statement, parameters = request["Statement"], request.get("Parameters")
    prepared = prepare(statement, parameters)
    body = prepared.body
    if isinstance(body, Exists):
        raise ValidationException(body.refusal)
    if isinstance(body, Select):
        return execute_select(db, request, body, prepared.values, digest_of(statement, parameters))
    return execute_write(db, request, prepared)


def execute_write(db: Database, request: Request, prepared: Prepared) -> Write:
    make_action = action_maker(prepared, shows_old=shows_old(request))

    def plan(snapshot: Snapshot) -> Plan:
        request.usage.begin()
        table = find_table(db, snapshot, request.scope, prepared.body.table)
        action = make_action(table)
        changes = Changes()
        outcome = carry_out_on(db, request.usage, table, action.locate(table), snapshot, action, changes)
        answer: dict[str, Any] = {"Items": returned_items(prepared.body, outcome)}
        return changes.answering({**answer, **report_consumed(request, table, changes.consumed)})

    return Write(plan)


OPERATION = Operation(name="ExecuteStatement", run=execute_statement)
