"""EnableKinesisStreamingDestination: have the changes of a table copied to a Kinesis stream."""

from __future__ import annotations

from typing import Any

from hashrange.engine import lifecycle
from hashrange.engine.change_log import last_sequence
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.engine.lifecycle import Mutation
from hashrange.engine.log_readers import LogReader, join
from hashrange.engine.scope import scope_of
from hashrange.errors import ValidationException
from hashrange.kinesis.delivery import RETENTION_MICROS
from hashrange.kinesis.destination import (
    ACTIVE,
    ENABLE_FAILED,
    ENABLING,
    ENDED,
    LOG_READER,
    STREAM_ARN,
    Destination,
    Destinations,
    Progress,
)
from hashrange.operations.kinesis.lookup import NOT_VALID, require_usable, table_and_destinations
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot


def enable_kinesis_streaming_destination(db: Database, request: Request) -> Write:
    wanted: dict[str, Any] = request.get("EnableKinesisStreamingConfiguration") or {}

    def plan(snapshot: Snapshot) -> Plan:
        table, found = table_and_destinations(db, snapshot, request)
        require_usable(table)
        now = db.clock.micros()
        require_ended(found, now)
        reason = why_it_fails(db, request["StreamArn"])
        destination = Destination(
            stream_arn=request["StreamArn"],
            passing=ENABLING,
            status=ACTIVE if reason is None else ENABLE_FAILED,
            settles_at_micros=now + db.settings.table_delay_micros,
            slices=(Progress(last_sequence(snapshot) + 1),) * table.log_slices,
            precision=wanted.get("ApproximateCreationDateTimePrecision"),
            reason=reason,
        )
        mutations: list[Mutation] = [(found.stored_key, found.with_destination(destination, now).dump())]
        if destination.is_live:
            mutations += logging(db, snapshot, table)
        return Plan(mutations, answer=answer(table, destination, wanted))

    return Write(plan)


def require_ended(found: Destinations, now_micros: int) -> None:
    """A table has one destination at a time."""
    if any(each.status_at(now_micros) not in ENDED for each in found.every):
        raise ValidationException(
            f"{NOT_VALID}EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform "
            "ENABLE operation."
        )


def why_it_fails(db: Database, stream_arn: str) -> str | None:
    """What can be told of a stream without asking its endpoint. The client learns of it later only."""
    if STREAM_ARN.fullmatch(stream_arn) is None:
        return f"{stream_arn} is not the ARN of a Kinesis stream"
    if db.settings.kinesis_endpoint is None:
        return "This server has no Kinesis endpoint: it was started without --kinesis-endpoint"
    return None


def logging(db: Database, snapshot: Snapshot, table: TableDefinition) -> list[Mutation]:
    """From now on every change is logged, with both images."""
    record = db.catalog.record(snapshot, scope_of(table.account, table.region), table.name)
    logged, reader = join(record, LOG_READER, LogReader(retention_micros=RETENTION_MICROS))
    return [lifecycle.save(logged), reader]


def answer(table: TableDefinition, destination: Destination, wanted: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "TableName": table.name,
        "StreamArn": destination.stream_arn,
        "DestinationStatus": destination.passing,
    }
    if wanted:
        shown["EnableKinesisStreamingConfiguration"] = wanted
    return shown


OPERATION = Operation(name="EnableKinesisStreamingDestination", run=enable_kinesis_streaming_destination)
