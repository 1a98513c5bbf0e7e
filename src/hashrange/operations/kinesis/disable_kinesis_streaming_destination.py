"""DisableKinesisStreamingDestination: no longer copy the changes of a table to a Kinesis stream."""

from __future__ import annotations

from hashrange.engine import lifecycle
from hashrange.engine.database import Database
from hashrange.engine.log_readers import leave
from hashrange.engine.scope import scope_of
from hashrange.kinesis.destination import DISABLED, DISABLING, LOG_READER
from hashrange.operations.kinesis.lookup import active_destination, table_and_destinations
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot


def disable_kinesis_streaming_destination(db: Database, request: Request) -> Write:
    def plan(snapshot: Snapshot) -> Plan:
        table, found = table_and_destinations(db, snapshot, request)
        now = db.clock.micros()
        destination = active_destination(found, request["StreamArn"], now, "DISABLE")
        ending = destination.becoming(DISABLING, DISABLED, now + db.settings.table_delay_micros)
        record = db.catalog.record(snapshot, scope_of(table.account, table.region), table.name)
        unlogged, reader = leave(record, LOG_READER)
        return Plan(
            [
                (found.stored_key, found.with_destination(ending, now).dump()),
                lifecycle.save(unlogged),
                reader,
            ],
            answer={"TableName": table.name, "StreamArn": ending.stream_arn, "DestinationStatus": DISABLING},
        )

    return Write(plan)


OPERATION = Operation(name="DisableKinesisStreamingDestination", run=disable_kinesis_streaming_destination)
