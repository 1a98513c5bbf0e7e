"""ImportTableDescription: an import as ImportTable and DescribeImport show it."""

from __future__ import annotations

from typing import Any

from hashrange.operations.tables.description import seconds
from hashrange.transfer.load import Progress, results
from hashrange.transfer.transfer import Transfer

ECHOED = ("ClientToken", "S3BucketSource", "InputFormat", "InputFormatOptions", "TableCreationParameters")


def describe_import(given: Transfer, progress: bytes | None) -> dict[str, Any]:
    """The import with the counts of its progress, or with those that it ended with."""
    request = given.request
    answer: dict[str, Any] = {
        "ImportArn": given.arn,
        "ImportStatus": given.status,
        "TableArn": given.table.arn,
        "TableId": given.table.uuid,
        **{name: request[name] for name in ECHOED if name in request},
        "InputCompressionType": request.get("InputCompressionType", "NONE"),
        "CloudWatchLogGroupArn": log_group(given),
        "StartTime": seconds(given.started_at_micros),
        **(given.results if progress is None else results(given, Progress.load(progress))),
    }
    if given.ended_at_micros is not None:
        answer["EndTime"] = seconds(given.ended_at_micros)
    if given.failure_code is not None:
        answer["FailureCode"] = given.failure_code
        answer["FailureMessage"] = given.failure_message
    return {"ImportTableDescription": answer}


def summarize_import(given: Transfer) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "ImportArn": given.arn,
        "ImportStatus": given.status,
        "TableArn": given.table.arn,
        "S3BucketSource": given.request["S3BucketSource"],
        "CloudWatchLogGroupArn": log_group(given),
        "InputFormat": given.request["InputFormat"],
        "StartTime": seconds(given.started_at_micros),
    }
    if given.ended_at_micros is not None:
        summary["EndTime"] = seconds(given.ended_at_micros)
    return summary


def log_group(given: Transfer) -> str:
    return f"arn:aws:logs:{given.table.region}:{given.table.account}:log-group:/aws-dynamodb/imports:*"
