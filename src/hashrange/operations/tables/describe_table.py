"""DescribeTable: everything about one table."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.lifecycle import existing_table
from hashrange.engine.scope import resolve_table
from hashrange.engine.throughput import today
from hashrange.operations.operation import Operation, Request
from hashrange.operations.tables.description import describe


def describe_table(db: Database, request: Request) -> dict[str, Any]:
    scope, name = resolve_table(request.scope, request["TableName"])
    with db.read() as snapshot:
        table = existing_table(db, snapshot, scope, name)
        return {"Table": describe(snapshot, today(table.definition, db.clock.micros()))}


OPERATION = Operation(name="DescribeTable", run=describe_table)
