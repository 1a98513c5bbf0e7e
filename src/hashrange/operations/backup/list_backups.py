"""ListBackups: the backups of an account in a region, or of one table, also of tables that are gone."""

from __future__ import annotations

from itertools import islice
from typing import Any

from hashrange.backup.backup import USER, Backup, backups
from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.limits import BACKUPS_PAGE_MAX
from hashrange.operations.backup.description import backup_summary
from hashrange.operations.backup.lookup import backup_key_of, named_table
from hashrange.operations.operation import Operation, Request

ALL = "ALL"


def list_backups(db: Database, request: Request) -> dict[str, Any]:
    limit = request.get("Limit", BACKUPS_PAGE_MAX)
    now = db.clock.micros()
    prefix = keyspace.BACKUP + request.scope.prefix
    if "TableName" in request:
        scope, name = named_table(request.scope, request["TableName"])
        prefix = keyspace.backup_key(scope.prefix, name, "")
    start = prefix
    if "ExclusiveStartBackupArn" in request:
        start = backup_key_of(request["ExclusiveStartBackupArn"]) + b"\0"
    with db.read() as snapshot:
        found = (
            backup for backup in backups(snapshot, prefix, start) if backup.is_there(now) and is_wanted(backup, request)
        )
        page = list(islice(found, limit + 1))
    answer: dict[str, Any] = {"BackupSummaries": [backup_summary(backup) for backup in page[:limit]]}
    if len(page) > limit:
        answer["LastEvaluatedBackupArn"] = page[limit - 1].arn
    return answer


def is_wanted(backup: Backup, request: Request) -> bool:
    """Of the right kind, and made at the lower bound or after it and before the upper bound."""
    kind = request.get("BackupType", USER)
    made_at = backup.created_at_micros / 1_000_000
    return (
        kind in (ALL, backup.kind)
        and made_at >= request.get("TimeRangeLowerBound", 0)
        and made_at < request.get("TimeRangeUpperBound", float("inf"))
    )


OPERATION = Operation(name="ListBackups", run=list_backups)
