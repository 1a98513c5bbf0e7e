"""ExportDescription: an export as ExportTableToPointInTime and DescribeExport show it."""

from __future__ import annotations

from typing import Any

from hashrange.operations.tables.description import seconds
from hashrange.transfer.export_files import NEW_AND_OLD_IMAGES
from hashrange.transfer.transfer import Transfer

ECHOED = ("ClientToken", "S3Bucket", "S3BucketOwner", "S3Prefix", "S3SseAlgorithm", "S3SseKmsKeyId", "ExportFormat")


def describe_export(export: Transfer) -> dict[str, Any]:
    request = export.request
    answer: dict[str, Any] = {
        "ExportArn": export.arn,
        "ExportStatus": export.status,
        "StartTime": seconds(export.started_at_micros),
        "TableArn": export.table.arn,
        "TableId": export.table.uuid,
        "ExportTime": seconds(export.facts["at_micros"]),
        **{name: request[name] for name in ECHOED if name in request},
        **incremental(export),
        **export.results,
    }
    if export.ended_at_micros is not None:
        answer["EndTime"] = seconds(export.ended_at_micros)
    if export.failure_code is not None:
        answer["FailureCode"] = export.failure_code
        answer["FailureMessage"] = export.failure_message
    return {"ExportDescription": answer}


def incremental(export: Transfer) -> dict[str, Any]:
    """What only incremental exports show; the type of a full one goes without saying."""
    given = export.request.get("IncrementalExportSpecification")
    if given is None:
        return {}
    return {
        "ExportType": export.request["ExportType"],
        "IncrementalExportSpecification": {
            "ExportFromTime": seconds(export.facts["from_micros"]),
            "ExportToTime": seconds(export.facts["to_micros"]),
            "ExportViewType": given.get("ExportViewType", NEW_AND_OLD_IMAGES),
        },
    }
