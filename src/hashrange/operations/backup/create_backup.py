"""CreateBackup: keep a table as it is at this moment, whatever its size and whoever is writing to it."""

from __future__ import annotations

from hashrange.backup.backup import back_up
from hashrange.engine.database import Database
from hashrange.errors import TableInUseException
from hashrange.operations.backup.description import backup_details
from hashrange.operations.backup.lookup import find_table, named_table, require_created
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot


def create_backup(db: Database, request: Request) -> Write:
    scope, name = named_table(request.scope, request["TableName"])

    def plan(snapshot: Snapshot) -> Plan:
        table = find_table(db, snapshot, scope, name)
        require_created(table)
        if table.status == "DELETING":
            raise TableInUseException(f"Table is being deleted: {name}")
        record = db.catalog.record(snapshot, scope, name)
        backup, mutations = back_up(db, snapshot, record, request["BackupName"])
        return Plan(mutations, answer={"BackupDetails": backup_details(backup, "CREATING")})

    return Write(plan)


OPERATION = Operation(name="CreateBackup", run=create_backup)
