"""DescribeBackup: a backup, and what the table was like when it was made."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.operations.backup.description import backup_description
from hashrange.operations.backup.lookup import find_backup
from hashrange.operations.operation import Operation, Request


def describe_backup(db: Database, request: Request) -> dict[str, Any]:
    with db.read() as snapshot:
        backup = find_backup(db, snapshot, request["BackupArn"])
    return {"BackupDescription": backup_description(backup, "AVAILABLE")}


OPERATION = Operation(name="DescribeBackup", run=describe_backup)
