"""What the operations on Kinesis destinations have in common: finding the table, and the words of refusals."""

from __future__ import annotations

from hashrange.engine import lifecycle
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.engine.scope import resolve_table
from hashrange.errors import ResourceInUseException, ValidationException
from hashrange.kinesis.destination import ACTIVE, Destination, Destinations, destinations_of
from hashrange.operations.operation import Request
from hashrange.storage.interface import Snapshot

NOT_VALID = "Table is not in a valid state to enable Kinesis Streaming Destination: "


def table_and_destinations(db: Database, snapshot: Snapshot, request: Request) -> tuple[TableDefinition, Destinations]:
    scope, name = resolve_table(request.scope, request["TableName"])
    table = lifecycle.existing_table(db, snapshot, scope, name).definition
    found = destinations_of(snapshot, table.id)
    return table, found or Destinations(table.id, table.account, table.region, table.name)


def require_usable(table: TableDefinition) -> None:
    if table.status not in ("ACTIVE", "UPDATING"):
        raise ResourceInUseException(lifecycle.IN_USE + lifecycle.NOT_READY[table.status].format(name=table.name))


def active_destination(found: Destinations, stream_arn: str, now_micros: int, operation: str) -> Destination:
    """The destination that a request changes, which it may while it is active only."""
    destination = found.to(stream_arn)
    if destination is None or destination.status_at(now_micros) != ACTIVE:
        raise ValidationException(
            f"{NOT_VALID}KinesisStreamingDestination must be ACTIVE to perform {operation} operation."
        )
    return destination
