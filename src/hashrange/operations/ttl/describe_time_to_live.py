"""DescribeTimeToLive: whether and by which attribute the items of a table expire."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.lifecycle import existing_table
from hashrange.engine.scope import resolve_table
from hashrange.errors import ValidationException
from hashrange.operations.operation import Operation, Request


def describe_time_to_live(db: Database, request: Request) -> dict[str, Any]:
    scope, name = resolve_table(request.scope, request["TableName"])
    with db.read() as snapshot:
        table = existing_table(db, snapshot, scope, name).definition
    if table.status == "CREATING":
        raise ValidationException(
            "Cannot describe time to live while table is in CREATING state: Current table state is CREATING"
        )
    if table.ttl_attribute is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": table.ttl_attribute}}


OPERATION = Operation(name="DescribeTimeToLive", run=describe_time_to_live)
