"""How tables come, change and go.

A table passes through a status on the way to the next one. The record that starts the passage holds its outcome
too (see `TableRecord`), so a crash in between loses nothing and no job has to finish it.
"""

from __future__ import annotations

from dataclasses import replace
from struct import Struct

import orjson

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition, TableRecord
from hashrange.engine.scope import Scope
from hashrange.engine.table import Table
from hashrange.errors import ResourceInUseException, ResourceNotFoundException
from hashrange.storage.interface import Snapshot

PASSAGES = {
    "create": ("CREATING", "ACTIVE"),
    "update": ("UPDATING", "ACTIVE"),
    "delete": ("DELETING", None),
}

IN_USE = "Attempt to change a resource which is still in use: "
NOT_READY = {
    "CREATING": "Table is being created: {name}",
    "UPDATING": "Table: {name} is in the process of being updated.",
    "DELETING": "Table is being deleted: {name}",
}

Mutation = tuple[bytes, bytes | None]

_identifier = Struct("<q")


def existing_table(db: Database, snapshot: Snapshot, scope: Scope, name: str) -> Table:
    """The table a control-plane operation is about, whatever its status."""
    table = db.catalog.find(snapshot, scope, name)
    if table is None:
        raise ResourceNotFoundException(f"Requested resource not found: Table: {name} not found")
    return table


def require_active(table: TableDefinition) -> None:
    """Most changes of a table wait for the one before them."""
    if table.status != "ACTIVE":
        raise ResourceInUseException(IN_USE + NOT_READY[table.status].format(name=table.name))


def next_table_id(snapshot: Snapshot) -> int:
    stored = snapshot.get(keyspace.LAST_TABLE_ID)
    last: int = 0 if stored is None else _identifier.unpack(stored)[0]
    return last + 1


def take_id(number: int) -> Mutation:
    """Tables and backups are numbered in one sequence, and no number is used twice."""
    return keyspace.LAST_TABLE_ID, _identifier.pack(number)


def begin(db: Database, passage: str, now: TableDefinition, outcome: TableDefinition) -> TableRecord:
    """The record of a table on its way: how it shows meanwhile and what it becomes."""
    status, final = PASSAGES[passage]
    return TableRecord(
        now=replace(now, status=status),
        outcome=None if final is None else replace(outcome, status=final),
        settles_at_micros=settles_at(db, db.clock.micros()),
    )


def settles_at(db: Database, begun_at_micros: int) -> int:
    """When a change is over that began at a time. One without a delay always is: a clock that is set back later must
    not make a table that was ready wait again."""
    delay_micros = db.settings.table_delay_micros
    return begun_at_micros + delay_micros if delay_micros else 0


def create(db: Database, definition: TableDefinition) -> tuple[TableRecord, list[Mutation]]:
    record = begin(db, "create", definition, definition)
    return record, [take_id(definition.id), save(record)]


def delete(db: Database, definition: TableDefinition) -> tuple[TableRecord, list[Mutation]]:
    """Mark a table as going. Its data is removed in the background, piece by piece, after it has gone."""
    record = begin(db, "delete", definition, definition)
    notice = orjson.dumps({"catalog_key": catalog_key(definition).hex(), "gone_at_micros": record.settles_at_micros})
    return record, [save(record), (keyspace.deleted_key(definition.id), notice)]


def catalog_key(definition: TableDefinition) -> bytes:
    return keyspace.catalog_key(keyspace.scope_prefix(definition.account, definition.region), definition.name)


def save(record: TableRecord) -> Mutation:
    return catalog_key(record.now), record.dump()
