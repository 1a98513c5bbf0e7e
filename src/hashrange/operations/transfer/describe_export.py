"""DescribeExport: how far an export has come, or how it ended."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.errors import ExportNotFoundException
from hashrange.operations.operation import Operation, Request
from hashrange.operations.transfer import export_description
from hashrange.operations.transfer.lookup import find_transfer
from hashrange.transfer.transfer import EXPORT


def describe_export(db: Database, request: Request) -> dict[str, Any]:
    arn = request["ExportArn"]
    with db.read() as snapshot:
        export = find_transfer(snapshot, request.scope, EXPORT, arn, invalid="Invalid Export ARN")
    if export is None:
        raise ExportNotFoundException(f"Export not found: {arn}")
    return export_description.describe_export(export)


OPERATION = Operation(name="DescribeExport", run=describe_export)
