"""DeleteBackup: remove a backup that somebody made, and its items in the background."""

from __future__ import annotations

from dataclasses import replace

from hashrange.backup.backup import SYSTEM
from hashrange.backup.filling import sources
from hashrange.engine.database import Database
from hashrange.errors import BackupInUseException, ValidationException
from hashrange.operations.backup.description import backup_description
from hashrange.operations.backup.lookup import find_backup
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot


def delete_backup(db: Database, request: Request) -> Write:
    arn = request["BackupArn"]

    def plan(snapshot: Snapshot) -> Plan:
        backup = find_backup(db, snapshot, arn)
        if backup.kind == SYSTEM:
            raise ValidationException(f"A system backup cannot be deleted: {arn}")
        if backup.id in sources(snapshot):
            raise BackupInUseException(f"Backup is being restored: {arn}")
        mutation = (backup.stored_key, replace(backup, is_deleted=True).dump())
        return Plan([mutation], answer={"BackupDescription": backup_description(backup, "DELETED")})

    return Write(plan)


OPERATION = Operation(name="DeleteBackup", run=delete_backup)
