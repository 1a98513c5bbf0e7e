"""Finding tables and backups by the names that clients use, with the errors of these operations."""

from __future__ import annotations

import re

from hashrange.backup.backup import Backup
from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.engine.scope import Scope, scope_of
from hashrange.errors import (
    BackupNotFoundException,
    ContinuousBackupsUnavailableException,
    TableNotFoundException,
    ValidationException,
)
from hashrange.storage.interface import Snapshot

TABLE_ARN = re.compile(r"arn:aws[a-z-]*:dynamodb:([^:]+):([^:]*):table/([a-zA-Z0-9_.-]+)")
BACKUP_ARN = re.compile(TABLE_ARN.pattern + r"/backup/([0-9]+-[0-9a-f]+)")


def named_table(scope: Scope, name_or_arn: str) -> tuple[Scope, str]:
    """Where a table is, wherever its ARN says, and its plain name."""
    if not name_or_arn.startswith("arn:"):
        return scope, name_or_arn
    match = TABLE_ARN.fullmatch(name_or_arn)
    if match is None:
        raise ValidationException(f"Invalid table ARN: {name_or_arn}")
    region, account, name = match.groups()
    return scope_of(account, region), name


def find_table(
    db: Database, snapshot: Snapshot, scope: Scope, name: str, *, missing: str = "Table not found"
) -> TableDefinition:
    """A table that is there. One that is still being restored is not, for these operations."""
    table = db.catalog.find(snapshot, scope, name)
    if table is None or table.definition.restored_from is not None:
        raise TableNotFoundException(f"{missing}: {name}")
    return table.definition


def require_created(table: TableDefinition) -> None:
    if table.status == "CREATING":
        raise ContinuousBackupsUnavailableException(
            f"Backups are being enabled for the table: {table.name}. Please retry later"
        )


def backup_key_of(arn: str) -> bytes:
    match = BACKUP_ARN.fullmatch(arn)
    if match is None:
        raise ValidationException("Invalid Backup ARN")
    region, account, table_name, label = match.groups()
    return keyspace.backup_key(keyspace.scope_prefix(account, region), table_name, label)


def find_backup(db: Database, snapshot: Snapshot, arn: str) -> Backup:
    stored = snapshot.get(backup_key_of(arn))
    backup = None if stored is None else Backup.load(stored)
    if backup is None or not backup.is_there(db.clock.micros()):
        raise BackupNotFoundException(f"Backup not found: {arn}")
    return backup
