"""TagResource: add tags to a table, or give those it has new values."""

from __future__ import annotations

import orjson

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.keys import INVALID
from hashrange.errors import ValidationException
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.tags.rules import check_tag_count, check_tags, read_tags, tagged_table
from hashrange.storage.interface import Plan, Snapshot


def tag_resource(db: Database, request: Request) -> Write:
    if not request["Tags"]:
        raise ValidationException(f"{INVALID}Atleast one Tag needs to be provided as Input.")
    added = check_tags(request["Tags"])

    def plan(snapshot: Snapshot) -> Plan:
        table = tagged_table(db, snapshot, request.scope, request["ResourceArn"])
        tags = {**read_tags(snapshot, table), **added}
        check_tag_count(tags)
        return Plan([(keyspace.tags_key(table.id), orjson.dumps(tags))])

    return Write(plan)


OPERATION = Operation(name="TagResource", run=tag_resource)
