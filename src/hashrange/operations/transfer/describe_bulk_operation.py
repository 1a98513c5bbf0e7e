"""DescribeBulkOperation: how far a bulk operation has come, or how it ended."""

from __future__ import annotations

from typing import Any

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.operations.operation import Operation, Request
from hashrange.operations.transfer import bulk_description


def describe_bulk_operation(db: Database, request: Request) -> dict[str, Any]:
    with db.read() as snapshot:
        found = bulk_description.find_bulk_operation(snapshot, request)
        progress = snapshot.get(keyspace.under_way_key(found.key))
    return bulk_description.describe_bulk_operation(found, progress)


OPERATION = Operation(name="DescribeBulkOperation", run=describe_bulk_operation)
