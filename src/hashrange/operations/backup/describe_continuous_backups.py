"""DescribeContinuousBackups: whether a table has point-in-time recovery, and between which moments."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.operations.backup.description import describe_recovery
from hashrange.operations.backup.lookup import find_table, named_table
from hashrange.operations.operation import Operation, Request


def describe_continuous_backups(db: Database, request: Request) -> dict[str, Any]:
    scope, name = named_table(request.scope, request["TableName"])
    with db.read() as snapshot:
        table = find_table(db, snapshot, scope, name)
    return {"ContinuousBackupsDescription": describe_recovery(table, db.clock.micros())}


OPERATION = Operation(name="DescribeContinuousBackups", run=describe_continuous_backups)
