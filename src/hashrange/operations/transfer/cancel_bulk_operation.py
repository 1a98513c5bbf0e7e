"""CancelBulkOperation: stop a bulk operation where it is. What it has written stays."""

from __future__ import annotations

from dataclasses import replace

from hashrange.engine.database import Database
from hashrange.errors import ValidationException
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.transfer.bulk_description import find_bulk_operation
from hashrange.storage.interface import Plan, Snapshot
from hashrange.transfer.transfer import CANCELLING


def cancel_bulk_operation(db: Database, request: Request) -> Write:
    def plan(snapshot: Snapshot) -> Plan:
        found = find_bulk_operation(snapshot, request)
        if not found.is_under_way:
            raise ValidationException(f"Bulk operation is not in progress: {found.arn}")
        cancelled = replace(found, status=CANCELLING)
        return Plan([cancelled.saved()], answer={"BulkOperationArn": found.arn, "BulkOperationStatus": CANCELLING})

    return Write(plan)


OPERATION = Operation(name="CancelBulkOperation", run=cancel_bulk_operation)
