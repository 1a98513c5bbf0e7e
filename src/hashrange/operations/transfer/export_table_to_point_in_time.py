"""ExportTableToPointInTime: write a table as it was, or what changed in it, to a bucket."""

from __future__ import annotations

import secrets
from typing import Any

from hashrange.backup.recovery import SECOND_MICROS, earliest_micros, latest_micros, moment_of
from hashrange.engine import lifecycle, log_readers
from hashrange.engine.change_log import last_sequence, position_at
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.engine.log_readers import LogReader
from hashrange.engine.scope import scope_of
from hashrange.errors import (
    ExportConflictException,
    InvalidExportTimeException,
    LimitExceededException,
    PointInTimeRecoveryUnavailableException,
    TableNotFoundException,
    ValidationException,
)
from hashrange.limits import EXPORTS_AT_ONCE_MAX, INCREMENTAL_EXPORT_SECONDS_MAX, INCREMENTAL_EXPORT_SECONDS_MIN
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.transfer.export_description import describe_export
from hashrange.operations.transfer.lookup import TABLE_ARN
from hashrange.operations.transfer.tokens import ClientToken
from hashrange.operations.unsupported import refuse_unsupported
from hashrange.storage.interface import Plan, Snapshot
from hashrange.transfer.export_files import DYNAMODB_JSON, FULL, INCREMENTAL, timestamp
from hashrange.transfer.transfer import EXPORT, Transfer, identifier, under_way

CONFLICT = "Export conflict: Duplicate request detected with conflicting parameters"


def export_table_to_point_in_time(db: Database, request: Request) -> Write:
    refuse_unsupported(request)
    check_shape(request)
    match = TABLE_ARN.fullmatch(request["TableArn"])
    if match is None:
        raise ValidationException(f"Invalid table ARN: {request['TableArn']}")
    region, account, name = match.groups()
    token = ClientToken(request, EXPORT)

    def plan(snapshot: Snapshot) -> Plan:
        now = db.clock.micros()
        earlier = token.earlier(snapshot, now, ExportConflictException(CONFLICT))
        if earlier is not None:
            return Plan(answer=describe_export(earlier))
        scope = scope_of(account, region)
        table = db.catalog.find(snapshot, scope, name)
        if table is None or region != request.scope.region:
            raise TableNotFoundException(f"Table not found: {name}")
        require_recovery(table.definition)
        if sum(1 for _ in under_way(snapshot, EXPORT)) >= EXPORTS_AT_ONCE_MAX:
            raise LimitExceededException(
                f"Subscriber limit exceeded: Only {EXPORTS_AT_ONCE_MAX} exports can be done simultaneously"
            )
        export = new_export(snapshot, request, table.definition, now)
        needed = export.facts.get("from_sequence", export.facts["sequence"])
        record, reading = log_readers.join(
            db.catalog.record(snapshot, scope, name), export.reader_name, LogReader(position=needed)
        )
        mutations = [*export.begun(), *token.remembered(export), lifecycle.save(record), reading]
        return Plan(mutations, answer=describe_export(export))

    return Write(plan)


def check_shape(request: Request) -> None:
    is_incremental = request.get("ExportType") == INCREMENTAL
    if is_incremental and "IncrementalExportSpecification" not in request:
        raise ValidationException("IncrementalExportSpecification must be specified for an INCREMENTAL_EXPORT")
    if is_incremental and "ExportFromTime" not in request["IncrementalExportSpecification"]:
        raise ValidationException("ExportFromTime must be specified for an INCREMENTAL_EXPORT")
    if is_incremental and "ExportTime" in request:
        raise ValidationException("ExportTime can not be specified for an INCREMENTAL_EXPORT")
    if not is_incremental and "IncrementalExportSpecification" in request:
        raise ValidationException("IncrementalExportSpecification can only be specified for an INCREMENTAL_EXPORT")


def require_recovery(table: TableDefinition) -> None:
    if table.recovery_since_micros is None:
        raise PointInTimeRecoveryUnavailableException(f"Point in time recovery is not enabled for table '{table.name}'")


def new_export(snapshot: Snapshot, request: Request, table: TableDefinition, now: int) -> Transfer:
    defaults = {"ExportFormat": DYNAMODB_JSON, "ExportType": FULL, "S3SseAlgorithm": "AES256"}
    return Transfer(
        kind=EXPORT,
        id=identifier(now, secrets.randbits(32)),
        table=table,
        request={**defaults, **request.members},
        started_at_micros=now,
        facts=facts_of(snapshot, request, table, now),
    )


def facts_of(snapshot: Snapshot, request: Request, table: TableDefinition, now: int) -> dict[str, int]:
    """The moments of the export and their positions in the log. What is written from now on belongs to no export."""
    present = last_sequence(snapshot) + 1
    given: dict[str, Any] | None = request.get("IncrementalExportSpecification")
    if given is None:
        at = moment(request.get("ExportTime"), table, now)
        return {"at_micros": at, "sequence": min(position_at(at + 1), present)}
    start, end = moment(given["ExportFromTime"], table, now), moment(given.get("ExportToTime"), table, now)
    seconds = (end - start) / SECOND_MICROS
    if not INCREMENTAL_EXPORT_SECONDS_MIN <= seconds <= INCREMENTAL_EXPORT_SECONDS_MAX:
        raise ValidationException(
            "The difference between ExportFromTime and ExportToTime must be between 15 minutes and 24 hours"
        )
    return {
        "at_micros": end,
        "from_micros": start,
        "to_micros": end,
        "from_sequence": min(position_at(start), present),
        "sequence": min(position_at(end), present),
    }


def moment(given: float | None, table: TableDefinition, now: int) -> int:
    """A moment that the table's log reaches back to."""
    wanted = now if given is None else moment_of(given, table, now)
    if wanted is None:
        raise InvalidExportTimeException(
            f"Export time must be between EarliestRestorableDateTime: {timestamp(earliest_micros(table, now))} "
            f"and LatestRestorableDateTime: {timestamp(latest_micros(table, now))}"
        )
    return wanted


OPERATION = Operation(name="ExportTableToPointInTime", run=export_table_to_point_in_time)
