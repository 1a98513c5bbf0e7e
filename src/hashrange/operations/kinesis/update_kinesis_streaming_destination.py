"""UpdateKinesisStreamingDestination: choose how precise the times of changes are that go to a Kinesis stream."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hashrange.engine.database import Database
from hashrange.errors import ValidationException
from hashrange.kinesis.destination import ACTIVE, UPDATING
from hashrange.operations.kinesis.lookup import active_destination, table_and_destinations
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot

DEFAULT_PRECISION = "MILLISECOND"


def update_kinesis_streaming_destination(db: Database, request: Request) -> Write:
    wanted: dict[str, Any] = request.get("UpdateKinesisStreamingConfiguration") or {}
    precision = wanted.get("ApproximateCreationDateTimePrecision")
    if precision is None:
        raise ValidationException("Streaming destination cannot be updated with given parameters")

    def plan(snapshot: Snapshot) -> Plan:
        table, found = table_and_destinations(db, snapshot, request)
        now = db.clock.micros()
        destination = active_destination(found, request["StreamArn"], now, "UPDATE")
        if precision == (destination.precision or DEFAULT_PRECISION):
            raise ValidationException(
                f"Invalid Request: Precision is already set to the desired value of {precision} for tableId: "
                f"{table.uuid}, kcStreamArn: {destination.stream_arn}"
            )
        settles_at_micros = now + db.settings.table_delay_micros
        updated = replace(destination.becoming(UPDATING, ACTIVE, settles_at_micros), precision=precision)
        answer = {
            "TableName": table.name,
            "StreamArn": updated.stream_arn,
            "DestinationStatus": UPDATING,
            "UpdateKinesisStreamingConfiguration": wanted,
        }
        return Plan([(found.stored_key, found.with_destination(updated, now).dump())], answer=answer)

    return Write(plan)


OPERATION = Operation(name="UpdateKinesisStreamingDestination", run=update_kinesis_streaming_destination)
