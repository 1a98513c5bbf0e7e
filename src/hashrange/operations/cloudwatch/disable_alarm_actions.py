"""DisableAlarmActions: switch the actions of alarms off."""

from __future__ import annotations

from hashrange.engine.database import Database
from hashrange.operations.cloudwatch.alarm_actions import switch_actions
from hashrange.operations.operation import Operation, Request, Write


def disable_alarm_actions(db: Database, request: Request) -> Write:
    return switch_actions(db, request, enabled=False)


OPERATION = Operation(name="DisableAlarmActions", run=disable_alarm_actions, service="cloudwatch")
