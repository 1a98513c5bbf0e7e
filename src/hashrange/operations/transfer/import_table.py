"""ImportTable: make a table and fill it with the items of files in a bucket."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import replace

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.errors import ImportConflictException, LimitExceededException, ResourceInUseException
from hashrange.limits import IMPORTS_AT_ONCE_MAX
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.tables.create_table import check_table_count, definition_of
from hashrange.operations.transfer.import_description import describe_import
from hashrange.operations.transfer.tokens import ClientToken
from hashrange.operations.unsupported import refuse_unsupported
from hashrange.storage.interface import Plan, Snapshot
from hashrange.transfer.load import Progress
from hashrange.transfer.transfer import IMPORT, Transfer, identifier, under_way

CONFLICT = "Import conflict: Duplicate request detected with conflicting parameters"


def import_table(db: Database, request: Request) -> Write:
    parameters = Request(request["TableCreationParameters"], request.scope)
    refuse_unsupported(parameters)
    draft = definition_of(parameters)
    token = ClientToken(request, IMPORT)

    def plan(snapshot: Snapshot) -> Plan:
        now = db.clock.micros()
        earlier = token.earlier(snapshot, now, ImportConflictException(CONFLICT))
        if earlier is not None:
            return Plan(answer=describe_import(earlier, snapshot.get(keyspace.under_way_key(earlier.key))))
        check_name(db, snapshot, draft, request)
        check_table_count(db, snapshot, request)
        given = Transfer(
            kind=IMPORT,
            id=identifier(now, secrets.randbits(32)),
            table=replace(draft, uuid=str(uuid.uuid4()), log_slices=db.settings.stream_shards),
            request=request.members,
            started_at_micros=now,
        )
        progress = Progress().dump()
        return Plan([*given.begun(progress), *token.remembered(given)], answer=describe_import(given, progress))

    return Write(plan)


def check_name(db: Database, snapshot: Snapshot, draft: TableDefinition, request: Request) -> None:
    """The name must be free, and no other import may be about to use it."""
    importing = [each.table for each, _ in under_way(snapshot, IMPORT)]
    is_taken = any(
        (each.account, each.region, each.name) == (draft.account, draft.region, draft.name) for each in importing
    )
    if is_taken or db.catalog.find(snapshot, request.scope, draft.name) is not None:
        raise ResourceInUseException(f"Table already exists: {draft.name}")
    if len(importing) >= IMPORTS_AT_ONCE_MAX:
        raise LimitExceededException(
            f"Subscriber limit exceeded: Only {IMPORTS_AT_ONCE_MAX} imports can be done simultaneously"
        )


OPERATION = Operation(name="ImportTable", run=import_table)
