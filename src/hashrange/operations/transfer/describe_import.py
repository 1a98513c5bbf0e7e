"""DescribeImport: how far an import has come, or how it ended."""

from __future__ import annotations

from typing import Any

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.errors import ImportNotFoundException
from hashrange.operations.operation import Operation, Request
from hashrange.operations.transfer import import_description
from hashrange.operations.transfer.lookup import find_transfer
from hashrange.transfer.transfer import IMPORT


def describe_import(db: Database, request: Request) -> dict[str, Any]:
    arn = request["ImportArn"]
    with db.read() as snapshot:
        found = find_transfer(snapshot, request.scope, IMPORT, arn, invalid="Invalid Import ARN")
        if found is None:
            raise ImportNotFoundException(f"Import not found: {arn}")
        progress = snapshot.get(keyspace.under_way_key(found.key))
    return import_description.describe_import(found, progress)


OPERATION = Operation(name="DescribeImport", run=describe_import)
