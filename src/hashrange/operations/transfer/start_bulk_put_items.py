"""StartBulkPutItems: put the items of files in a bucket into a table that exists."""

from __future__ import annotations

import secrets

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.lifecycle import IN_USE, existing_table, require_active
from hashrange.engine.scope import resolve_table
from hashrange.errors import IdempotentParameterMismatchException, ResourceInUseException, ValidationException
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.transfer.bulk_description import describe_bulk_operation
from hashrange.operations.transfer.tokens import ClientToken
from hashrange.operations.unsupported import refuse_unsupported
from hashrange.storage.interface import Plan, Snapshot
from hashrange.transfer.load import Progress
from hashrange.transfer.transfer import BULK, Transfer, identifier

MISMATCH = "The client token was used with different parameters within the idempotency window"
NO_BUCKET = (
    "1 validation error detected: Value null at 'outputS3Configuration.s3Bucket' failed to satisfy constraint: "
    "Member must not be null"
)


def start_bulk_put_items(db: Database, request: Request) -> Write:
    output = Request(request["OutputS3Configuration"], request.scope)
    if "S3Bucket" not in output:
        raise ValidationException(NO_BUCKET)
    refuse_unsupported(output)
    scope, name = resolve_table(request.scope, request["TableName"])
    token = ClientToken(request, BULK)

    def plan(snapshot: Snapshot) -> Plan:
        now = db.clock.micros()
        earlier = token.earlier(snapshot, now, IdempotentParameterMismatchException(MISMATCH))
        if earlier is not None:
            progress = snapshot.get(keyspace.under_way_key(earlier.key))
            return Plan(answer=describe_bulk_operation(earlier, progress))
        table = existing_table(db, snapshot, scope, name).definition
        if table.status != "UPDATING":
            require_active(table)
        if any(index.status == "CREATING" for index in table.indexes):
            raise ResourceInUseException(f"{IN_USE}Table: {name} is in the process of being updated.")
        given = Transfer(
            kind=BULK,
            id=identifier(now, secrets.randbits(32)),
            table=table,
            request=request.members,
            started_at_micros=now,
        )
        begun = Progress().dump()
        mutations = [*given.begun(begun), *token.remembered(given)]
        return Plan(mutations, answer=describe_bulk_operation(given, begun))

    return Write(plan)


OPERATION = Operation(name="StartBulkPutItems", run=start_bulk_put_items)
