"""UntagResource: take tags off a table. Keys that it does not have are ignored."""

from __future__ import annotations

import orjson

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.keys import INVALID
from hashrange.errors import ValidationException
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.tags.rules import read_tags, tagged_table
from hashrange.storage.interface import Plan, Snapshot


def untag_resource(db: Database, request: Request) -> Write:
    removed = request["TagKeys"]
    if not removed:
        raise ValidationException(f"{INVALID}Atleast one Tag Key needs to be provided as Input.")

    def plan(snapshot: Snapshot) -> Plan:
        table = tagged_table(db, snapshot, request.scope, request["ResourceArn"])
        tags = {key: value for key, value in read_tags(snapshot, table).items() if key not in removed}
        return Plan([(keyspace.tags_key(table.id), orjson.dumps(tags))])

    return Write(plan)


OPERATION = Operation(name="UntagResource", run=untag_resource)
