"""What both kinds of restore do: make a table that is CREATING until it is filled."""

from __future__ import annotations

from dataclasses import replace

from hashrange.backup.filling import fillings
from hashrange.engine import lifecycle
from hashrange.engine.database import Database
from hashrange.engine.definition import Origin, TableDefinition, TableRecord
from hashrange.engine.lifecycle import Mutation
from hashrange.errors import (
    LimitExceededException,
    TableAlreadyExistsException,
    TableInUseException,
    ValidationException,
)
from hashrange.limits import RESTORES_AT_ONCE_MAX
from hashrange.operations.operation import Request
from hashrange.operations.tables.create_table import check_table_count
from hashrange.storage.interface import Snapshot

NEVER_MICROS = 2**62  # when a table settles whose filling has not ended


def check_target(db: Database, snapshot: Snapshot, request: Request, *, source: TableDefinition) -> None:
    """A restore always makes a new table. To bring one from another region one has to say how to encrypt it."""
    name = request["TargetTableName"]
    if source.region != request.scope.region and "SSESpecificationOverride" not in request:
        raise ValidationException("SSESpecificationOverride is required to restore a table to another region")
    existing = db.catalog.find(snapshot, request.scope, name)
    if existing is not None and existing.definition.restored_from is not None:
        raise TableInUseException(f"Table is being restored: {name}")
    if existing is not None:
        raise TableAlreadyExistsException(f"Table already exists: {name}")
    check_table_count(db, snapshot, request)
    if sum(not filling.is_backup and not filling.is_done for filling in fillings(snapshot)) >= RESTORES_AT_ONCE_MAX:
        raise LimitExceededException(
            f"Subscriber limit exceeded: Only {RESTORES_AT_ONCE_MAX} restore operations can be done simultaneously"
        )


def restore(db: Database, definition: TableDefinition, origin: Origin) -> tuple[TableRecord, list[Mutation]]:
    """The record of a table that is being restored; the last mutation writes it."""
    record = TableRecord(
        now=replace(definition, status="CREATING", restored_from=origin),
        outcome=replace(definition, status="ACTIVE"),
        settles_at_micros=NEVER_MICROS,
    )
    return record, [lifecycle.take_id(definition.id), lifecycle.save(record)]
