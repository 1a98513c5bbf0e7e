"""DeleteTable: remove a table and, in the background, everything in it."""

from __future__ import annotations

from hashrange.backup import recovery
from hashrange.backup.backup import back_up_deleted
from hashrange.engine import lifecycle
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.engine.scope import resolve_table
from hashrange.errors import ResourceInUseException, ValidationException
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.tables.description import describe_deleted
from hashrange.operations.tables.stream_settings import disable
from hashrange.storage.interface import Plan, Snapshot


def delete_table(db: Database, request: Request) -> Write:
    scope, name = resolve_table(request.scope, request["TableName"])

    def plan(snapshot: Snapshot) -> Plan:
        table = lifecycle.existing_table(db, snapshot, scope, name).definition
        check_deletable(table)
        record, mutations = lifecycle.delete(db, table)
        if table.stream_view is not None:
            mutations.append(disable(snapshot, table, db.clock.micros())[1])
        if table.recovery_since_micros is not None:
            mutations += [recovery.forget(table), *back_up_deleted(db, snapshot, table)]
        return Plan(mutations, answer={"TableDescription": describe_deleted(snapshot, record.now)})

    return Write(plan)


def check_deletable(table: TableDefinition) -> None:
    if table.deletion_protected:
        raise ValidationException(
            "Resource cannot be deleted as it is currently protected against deletion. "
            "Disable deletion protection first."
        )
    lifecycle.require_active(table)
    if any(index.status != "ACTIVE" for index in table.indexes):
        raise ResourceInUseException(
            f"{lifecycle.IN_USE}Cannot delete table while indexes are being created, updated, or deleted."
        )


OPERATION = Operation(name="DeleteTable", run=delete_table)
