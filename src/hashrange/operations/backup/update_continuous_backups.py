"""UpdateContinuousBackups: turn point-in-time recovery on and off, and say how many days it reaches back."""

from __future__ import annotations

from hashrange.backup import recovery
from hashrange.engine import lifecycle
from hashrange.engine.database import Database
from hashrange.limits import RECOVERY_DAYS_MAX
from hashrange.operations.backup.description import describe_recovery
from hashrange.operations.backup.lookup import find_table, named_table, require_created
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot


def update_continuous_backups(db: Database, request: Request) -> Write:
    scope, name = named_table(request.scope, request["TableName"])
    wanted = request["PointInTimeRecoverySpecification"]

    def plan(snapshot: Snapshot) -> Plan:
        now = db.clock.micros()
        require_created(find_table(db, snapshot, scope, name))
        record = db.catalog.record(snapshot, scope, name)
        if wanted["PointInTimeRecoveryEnabled"]:
            days = wanted.get("RecoveryPeriodInDays", RECOVERY_DAYS_MAX)
            record, reader = recovery.enable(record, days, now)
        else:
            record, reader = recovery.disable(record)
        table = record.at(now)
        assert table is not None
        answer = {"ContinuousBackupsDescription": describe_recovery(table, now)}
        return Plan([lifecycle.save(record), reader], answer=answer)

    return Write(plan)


OPERATION = Operation(name="UpdateContinuousBackups", run=update_continuous_backups)
