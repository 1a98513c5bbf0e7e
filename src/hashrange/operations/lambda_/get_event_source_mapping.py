"""GetEventSourceMapping: one trigger, its settings and how it fares."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.operations.lambda_.description import describe
from hashrange.operations.lambda_.lookup import find_trigger
from hashrange.operations.operation import Operation, Request


def get_event_source_mapping(db: Database, request: Request) -> dict[str, Any]:
    with db.read() as snapshot:
        return describe(find_trigger(snapshot, request.scope, request["UUID"]))


OPERATION = Operation(name="GetEventSourceMapping", run=get_event_source_mapping, service="lambda")
