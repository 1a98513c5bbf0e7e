"""RestoreTableFromBackup: a new table with the items of a backup."""

from __future__ import annotations

from hashrange.backup.filling import Filling, sources
from hashrange.engine.database import Database
from hashrange.engine.definition import Origin
from hashrange.errors import BackupInUseException
from hashrange.operations.backup.lookup import find_backup
from hashrange.operations.backup.restore import check_target, restore
from hashrange.operations.backup.restored_definition import restored_definition
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.tables.description import describe
from hashrange.operations.unsupported import refuse_unsupported
from hashrange.storage.interface import Plan, Snapshot


def restore_table_from_backup(db: Database, request: Request) -> Write:
    refuse_unsupported(request)
    arn = request["BackupArn"]

    def plan(snapshot: Snapshot) -> Plan:
        backup = find_backup(db, snapshot, arn)
        if backup.id in sources(snapshot):
            raise BackupInUseException(f"Backup is being restored: {arn}")
        check_target(db, snapshot, request, source=backup.table)
        origin = Origin(backup.table.arn, backup.created_at_micros, backup_arn=arn)
        definition = restored_definition(db, snapshot, backup.table, request)
        record, mutations = restore(db, definition, origin)
        filling = Filling(definition.id, mutations[-1][0], is_backup=False, source_id=backup.id)
        mutations.append(filling.saved())
        return Plan(mutations, answer={"TableDescription": describe(snapshot, record.now)})

    return Write(plan)


OPERATION = Operation(name="RestoreTableFromBackup", run=restore_table_from_backup)
