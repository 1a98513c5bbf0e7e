"""BulkOperationDescription: a bulk operation as StartBulkPutItems and DescribeBulkOperation show it."""

from __future__ import annotations

from typing import Any

from hashrange.errors import ResourceNotFoundException
from hashrange.operations.operation import Request
from hashrange.operations.tables.description import seconds
from hashrange.operations.transfer.lookup import find_transfer
from hashrange.storage.interface import Snapshot
from hashrange.transfer.load import Progress, results
from hashrange.transfer.transfer import BULK, Transfer

ECHOED = ("ClientToken", "InputS3Configuration", "OutputS3Configuration", "MaxWriteRequestUnits")


def find_bulk_operation(snapshot: Snapshot, request: Request) -> Transfer:
    arn = request["BulkOperationArn"]
    found = find_transfer(snapshot, request.scope, BULK, arn, invalid="Invalid Bulk Operation ARN")
    if found is None:
        raise ResourceNotFoundException(f"Requested resource not found: Bulk operation: {arn} not found")
    return found


def describe_bulk_operation(given: Transfer, progress: bytes | None) -> dict[str, Any]:
    """The operation with the counts of its progress, or with those that it ended with."""
    request = given.request
    answer: dict[str, Any] = {
        **summarize_bulk_operation(given),
        "TableDetails": [{"TableName": request["TableName"], "TableId": given.table.uuid}],
        **{name: request[name] for name in ECHOED if name in request},
        "PerformanceTier": request.get("PerformanceTier", "STANDARD"),
        **(given.results if progress is None else results(given, Progress.load(progress))),
    }
    if given.failure_code is not None:
        answer["FailureCode"] = given.failure_code
        answer["FailureMessage"] = given.failure_message
    return {"BulkOperationDescription": answer}


def summarize_bulk_operation(given: Transfer) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "BulkOperationArn": given.arn,
        "BulkOperationStatus": given.status,
        "StartTime": seconds(given.started_at_micros),
    }
    if given.ended_at_micros is not None:
        summary["EndTime"] = seconds(given.ended_at_micros)
    return summary
