"""ListBulkOperations: the bulk operations of the last ninety days, the latest first."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.limits import BULK_OPERATIONS_PAGE
from hashrange.operations.operation import Operation, Request
from hashrange.operations.transfer.bulk_description import summarize_bulk_operation
from hashrange.operations.transfer.lookup import page_of
from hashrange.transfer.transfer import BULK


def list_bulk_operations(db: Database, request: Request) -> dict[str, Any]:
    page, token = page_of(db, request, BULK, limit=request.get("MaxResults", BULK_OPERATIONS_PAGE))
    answer: dict[str, Any] = {"BulkOperationsSummaryList": [summarize_bulk_operation(each) for each in page]}
    return answer if token is None else {**answer, "NextToken": token}


OPERATION = Operation(name="ListBulkOperations", run=list_bulk_operations)
