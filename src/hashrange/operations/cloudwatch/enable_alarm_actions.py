"""EnableAlarmActions: switch the actions of alarms on."""

from __future__ import annotations

from hashrange.engine.database import Database
from hashrange.operations.cloudwatch.alarm_actions import switch_actions
from hashrange.operations.operation import Operation, Request, Write


def enable_alarm_actions(db: Database, request: Request) -> Write:
    return switch_actions(db, request, enabled=True)


OPERATION = Operation(name="EnableAlarmActions", run=enable_alarm_actions, service="cloudwatch")
