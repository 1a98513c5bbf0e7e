"""DescribeKinesisStreamingDestination: the Kinesis streams that a table's changes go to, or lately went to."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.kinesis.destination import Destination
from hashrange.operations.kinesis.lookup import table_and_destinations
from hashrange.operations.operation import Operation, Request


def describe_kinesis_streaming_destination(db: Database, request: Request) -> dict[str, Any]:
    now = db.clock.micros()
    with db.read() as snapshot:
        table, found = table_and_destinations(db, snapshot, request)
    shown = [describe(each, now) for each in found.every if each.is_shown(now)]
    return {"TableName": table.name, "KinesisDataStreamDestinations": shown}


def describe(destination: Destination, now_micros: int) -> dict[str, Any]:
    described: dict[str, Any] = {
        "StreamArn": destination.stream_arn,
        "DestinationStatus": destination.status_at(now_micros),
    }
    if destination.reason is not None and now_micros >= destination.settles_at_micros:
        described["DestinationStatusDescription"] = destination.reason
    if destination.precision is not None:
        described["ApproximateCreationDateTimePrecision"] = destination.precision
    return described


OPERATION = Operation(name="DescribeKinesisStreamingDestination", run=describe_kinesis_streaming_destination)
