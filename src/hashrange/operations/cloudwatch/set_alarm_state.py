"""SetAlarmState: put an alarm into a state, until it is next evaluated."""

from __future__ import annotations

import orjson

from hashrange.engine.database import Database
from hashrange.errors import InvalidFormatFault, ResourceNotFound
from hashrange.metrics import alarms
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot


def set_alarm_state(db: Database, request: Request) -> Write:
    data = request.get("StateReasonData")
    if data is not None:
        try:
            orjson.loads(data)
        except orjson.JSONDecodeError:
            raise InvalidFormatFault("StateReasonData is not JSON") from None

    def plan(snapshot: Snapshot) -> Plan:
        old = alarms.find(snapshot, request.scope, request["AlarmName"])
        if old is None:
            raise ResourceNotFound(f"Unknown alarm name: {request['AlarmName']}")
        new = old.in_state(request["StateValue"], request["StateReason"], data, db.clock.micros())
        if new.state == old.state:
            return Plan([alarms.save(request.scope, new)])
        return Plan(list(alarms.moved(snapshot, request.scope, old, new)))

    return Write(plan)


OPERATION = Operation(name="SetAlarmState", run=set_alarm_state, service="cloudwatch")
