"""Finding the table or index that a request about Contributor Insights means."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.lifecycle import existing_table
from hashrange.engine.scope import resolve_table
from hashrange.errors import ResourceNotFoundException
from hashrange.insights.rules import Resource, resources
from hashrange.operations.operation import Request
from hashrange.storage.interface import Snapshot


def find_resource(db: Database, snapshot: Snapshot, request: Request) -> Resource:
    """The table that the request names, or its global secondary index if the request names one."""
    scope, name = resolve_table(request.scope, request["TableName"])
    table = existing_table(db, snapshot, scope, name).definition
    wanted = request.get("IndexName")
    for each in resources(table):
        if wanted == (None if each.index is None else each.index.name):
            return each
    raise ResourceNotFoundException(f"Requested resource not found: Index: {wanted} not found for table: {name}")


def names_of(resource: Resource) -> dict[str, Any]:
    """How answers name a table or index."""
    names = {"TableName": resource.table.name}
    return names if resource.index is None else {**names, "IndexName": resource.index.name}
