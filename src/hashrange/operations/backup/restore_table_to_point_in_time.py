"""RestoreTableToPointInTime: a new table with the items that another one had at a moment of its recent past."""

from __future__ import annotations

from datetime import UTC, datetime

from hashrange.backup.filling import Filling
from hashrange.backup.recovery import earliest_micros, latest_micros, moment_of
from hashrange.engine.change_log import last_sequence, position_at
from hashrange.engine.database import Database
from hashrange.engine.definition import Origin, TableDefinition
from hashrange.errors import (
    InvalidRestoreTimeException,
    PointInTimeRecoveryUnavailableException,
    ValidationException,
)
from hashrange.operations.backup.lookup import find_table, named_table
from hashrange.operations.backup.restore import check_target, restore
from hashrange.operations.backup.restored_definition import restored_definition
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.tables.description import describe
from hashrange.operations.unsupported import refuse_unsupported
from hashrange.storage.interface import Plan, Snapshot


def restore_table_to_point_in_time(db: Database, request: Request) -> Write:
    check_shape(request)
    refuse_unsupported(request)
    scope, name = named_table(request.scope, request.get("SourceTableArn") or request["SourceTableName"])

    def plan(snapshot: Snapshot) -> Plan:
        source = find_table(db, snapshot, scope, name, missing="Source table not found")
        at_micros = moment(db, source, request)
        check_target(db, snapshot, request, source=source)
        origin = Origin(source.arn, at_micros)
        definition = restored_definition(db, snapshot, source, request)
        record, mutations = restore(db, definition, origin)
        is_latest = request.get("UseLatestRestorableTime")
        sequence = last_sequence(snapshot) + 1 if is_latest else position_at(at_micros + 1)
        source_record = db.catalog.record(snapshot, scope, name)
        filling, reading = Filling.of_past(definition.id, mutations[-1][0], source_record, sequence, is_backup=False)
        mutations += [*reading, filling.saved()]
        return Plan(mutations, answer={"TableDescription": describe(snapshot, record.now)})

    return Write(plan)


def check_shape(request: Request) -> None:
    if ("SourceTableArn" in request) == ("SourceTableName" in request):
        raise ValidationException("Exactly one of SourceTableArn and SourceTableName must be specified")
    if bool(request.get("UseLatestRestorableTime")) == ("RestoreDateTime" in request):
        raise ValidationException("Exactly one of UseLatestRestorableTime and RestoreDateTime must be specified")


def moment(db: Database, source: TableDefinition, request: Request) -> int:
    """The moment to restore to, in microseconds."""
    if source.recovery_since_micros is None:
        raise PointInTimeRecoveryUnavailableException(
            f"Point in time recovery is not enabled for table '{source.name}'"
        )
    now = db.clock.micros()
    if request.get("UseLatestRestorableTime"):
        return now
    wanted = moment_of(request["RestoreDateTime"], source, now)
    if wanted is None:
        raise InvalidRestoreTimeException(
            f"Restore time must be between EarliestRestorableDateTime: {printed(earliest_micros(source, now))} "
            f"and LatestRestorableDateTime: {printed(latest_micros(source, now))}"
        )
    return wanted


def printed(micros: int) -> str:
    return datetime.fromtimestamp(micros / 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


OPERATION = Operation(name="RestoreTableToPointInTime", run=restore_table_to_point_in_time)
