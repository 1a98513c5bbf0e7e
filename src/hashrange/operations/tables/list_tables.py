"""ListTables: the names of the tables of an account in a region, in byte order."""

from __future__ import annotations

from itertools import islice
from typing import Any

from hashrange.engine.database import Database
from hashrange.limits import TABLE_NAMES_PAGE_MAX
from hashrange.operations.operation import Operation, Request


def list_tables(db: Database, request: Request) -> dict[str, Any]:
    limit = request.get("Limit", TABLE_NAMES_PAGE_MAX)
    start = request.get("ExclusiveStartTableName", "")
    with db.read() as snapshot:
        names = list(islice(db.catalog.names(snapshot, request.scope, after_name=start), limit + 1))
    if len(names) <= limit:
        return {"TableNames": names}
    return {"TableNames": names[:limit], "LastEvaluatedTableName": names[limit - 1]}


OPERATION = Operation(name="ListTables", run=list_tables)
