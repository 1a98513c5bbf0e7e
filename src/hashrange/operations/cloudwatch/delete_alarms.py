"""DeleteAlarms: all of those that are named, or none if one of them does not exist."""

from __future__ import annotations

from hashrange.engine.database import Database
from hashrange.errors import ResourceNotFound
from hashrange.metrics import alarms
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot


def delete_alarms(db: Database, request: Request) -> Write:
    def plan(snapshot: Snapshot) -> Plan:
        names = list(dict.fromkeys(request["AlarmNames"]))
        unknown = [name for name in names if alarms.find(snapshot, request.scope, name) is None]
        if unknown:
            raise ResourceNotFound(f"Unknown alarm name{'s' * (len(unknown) > 1)}: {', '.join(unknown)}")
        return Plan([mutation for name in names for mutation in alarms.remove(snapshot, request.scope, name)])

    return Write(plan)


OPERATION = Operation(name="DeleteAlarms", run=delete_alarms, service="cloudwatch")
