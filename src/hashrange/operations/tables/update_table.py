"""UpdateTable: change a table's capacity, class, protection or global secondary indexes, one kind at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from hashrange.capacity.limits import Owner
from hashrange.engine import keyspace, lifecycle
from hashrange.engine.database import Database
from hashrange.engine.definition import PROVISIONED, TableDefinition, TableRecord
from hashrange.engine.lifecycle import Mutation
from hashrange.engine.scope import resolve_table
from hashrange.engine.throughput import DAY_MICROS, today
from hashrange.errors import LimitExceededException, ResourceInUseException, ValidationException
from hashrange.indexes.progress import Progress
from hashrange.limits import TABLE_CLASS_CHANGES_PER_30_DAYS
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.tables.description import describe
from hashrange.operations.tables.index_updates import (
    begin_index_change,
    check_index_updates,
    require_global,
    structural,
)
from hashrange.operations.tables.on_demand import TABLE, Units, changed_maximum, raised_warm
from hashrange.operations.tables.schema import invalid
from hashrange.operations.tables.stream_settings import check_stream_change, disable, enable
from hashrange.operations.tables.throughput import changed_billing, check_billing, index_updates
from hashrange.operations.unsupported import refuse_unsupported
from hashrange.storage.interface import Plan, Snapshot

CHANGES = (
    "ProvisionedThroughput",
    "BillingMode",
    "StreamSpecification",
    "GlobalSecondaryIndexUpdates",
    "SSESpecification",
    "ReplicaUpdates",
    "MultiRegionConsistency",
    "DeletionProtectionEnabled",
    "OnDemandThroughput",
    "WarmThroughput",
    "TableClass",
)
NOTHING_ASKED = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, "
    "SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, "
    "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"
)
ALONE = {
    "SSESpecification": "Server-Side Encryption modification",
    "TableClass": "TableClass modification",
    "DeletionProtectionEnabled": "DeletionProtection modification",
    "ReplicaUpdates": "Replica modification",
    "WarmThroughput": "WarmThroughput",
}


def update_table(db: Database, request: Request) -> Write:
    scope, name = resolve_table(request.scope, request["TableName"])
    check_combination(request)
    check_encryption(request)
    refuse_unsupported(request)

    def plan(snapshot: Snapshot) -> Plan:
        lifecycle.existing_table(db, snapshot, scope, name)
        record, mutations = updated(db, snapshot, db.catalog.record(snapshot, scope, name), request)
        return Plan([lifecycle.save(record), *mutations], answer={"TableDescription": describe(snapshot, record.now)})

    return Write(plan)


def check_combination(request: Request) -> None:
    """Most kinds of change have to be the only one in their request."""
    asked = [name for name in CHANGES if request.get(name) not in (None, [])]
    if not asked:
        raise ValidationException(NOTHING_ASKED)
    if len(asked) > 1:
        for name, title in ALONE.items():
            if name in asked:
                raise invalid(f"{title} must be the only operation in the request")
    if "OnDemandThroughput" in asked and set(asked) - {"OnDemandThroughput", "BillingMode"}:
        raise invalid("OnDemandThroughput can only be combined with BillingMode in an UpdateTable request")
    check_billing(request)
    updates = request.get("GlobalSecondaryIndexUpdates") or []
    check_index_updates(updates)
    capacity = {"ProvisionedThroughput", "BillingMode"} & set(asked)
    if structural(updates) and capacity:
        raise invalid("You cannot create or delete index while updating table IOPS")
    if "StreamSpecification" in asked:
        if capacity:
            raise invalid("You cannot modify stream status while updating table IOPS")
        if structural(updates):
            raise invalid("You cannot create or delete index while changing stream status")
        check_stream_change(request["StreamSpecification"])


def check_encryption(request: Request) -> None:
    """Every table has the encryption that cannot be turned off; there is no other to return from."""
    wanted = request.get("SSESpecification")
    if wanted is not None and not wanted.get("Enabled"):
        raise invalid("Table is already encrypted by default")


def updated(
    db: Database, snapshot: Snapshot, record: TableRecord, request: Request
) -> tuple[TableRecord, list[Mutation]]:
    """The table's new record, with whatever else the change has to write."""
    table = record.at(db.clock.micros())
    assert table is not None
    table = today(table, db.clock.micros())
    if "DeletionProtectionEnabled" in request:
        return protected(record, table, request["DeletionProtectionEnabled"]), []
    lifecycle.require_active(table)
    if structural(request.get("GlobalSecondaryIndexUpdates") or []):
        return index_changed(db, table, request)
    if "StreamSpecification" in request:
        return stream_changed(db, snapshot, table, request["StreamSpecification"])
    outcome = changed(db, table, request)
    if "OnDemandThroughput" in request and "BillingMode" not in request:
        return TableRecord.settled(outcome), []  # a table does not have to be rebuilt for it
    return lifecycle.begin(db, "update", table, outcome), []


def protected(record: TableRecord, table: TableDefinition, wanted: bool) -> TableRecord:
    """Deletion protection changes at once, also while another change is under way."""
    if table.status not in ("ACTIVE", "UPDATING") or record.outcome is None:
        raise ResourceInUseException("Table needs to be in ACTIVE status to modify deletion protection setting.")
    if table.status == "ACTIVE":
        return TableRecord.settled(replace(table, deletion_protected=wanted))
    return replace(
        record,
        now=replace(record.now, deletion_protected=wanted),
        outcome=replace(record.outcome, deletion_protected=wanted),
    )


def index_changed(db: Database, table: TableDefinition, request: Request) -> tuple[TableRecord, list[Mutation]]:
    """Create or delete a global secondary index, leaving word for the job that fills or empties it."""
    now, outcome = begin_index_change(table, request)
    record = lifecycle.begin(db, "update", now, outcome)
    mutations: list[Mutation] = []
    before, after = ({index.number for index in each.indexes} for each in (table, outcome))
    for number in after - before:
        progress = Progress(lifecycle.catalog_key(table))
        mutations.append((keyspace.backfill_key(table.id, number), progress.dump()))
    for number in before - after:
        notice = orjson.dumps({"gone_at_micros": record.settles_at_micros})
        mutations.append((keyspace.deleted_key(table.id, number), notice))
    return record, mutations


def stream_changed(
    db: Database, snapshot: Snapshot, table: TableDefinition, wanted: Mapping[str, Any]
) -> tuple[TableRecord, list[Mutation]]:
    """Changes are in the stream from this moment on, or no longer."""
    if wanted["StreamEnabled"]:
        outcome, stream = enable(db, table, wanted["StreamViewType"])
    else:
        outcome, stream = disable(snapshot, table, db.clock.micros())
    return lifecycle.begin(db, "update", outcome, outcome), [stream]


def changed(db: Database, table: TableDefinition, request: Request) -> TableDefinition:
    """The table after a change of class or capacity."""
    now_micros = db.clock.micros()
    if "TableClass" in request:
        return changed_class(table, request["TableClass"], now_micros)
    if "WarmThroughput" in request:
        return replace(table, warm=warmed(table, table, request["WarmThroughput"], TABLE))
    if "BillingMode" in request or "ProvisionedThroughput" in request or index_updates(request):
        table = changed_billing(table, request, now_micros, db.settings.on_demand_switches_max)
    if "OnDemandThroughput" in request:
        table = replace(table, on_demand=limited(table, table, request["OnDemandThroughput"], TABLE))
    return changed_indexes(table, request)


def changed_indexes(table: TableDefinition, request: Request) -> TableDefinition:
    """The table with new maxima and warm throughput of single global secondary indexes."""
    for update in request.get("GlobalSecondaryIndexUpdates") or []:
        wanted = update["Update"]
        index = require_global(table, wanted["IndexName"])
        if table.billing_mode != PROVISIONED and not (wanted.get("OnDemandThroughput") or wanted.get("WarmThroughput")):
            raise invalid(
                f"The only Updates for index: {index.name} when TableThroughputMode is PAY_PER_REQUEST can be to "
                "OnDemandThroughput, WarmThroughput"
            )
        if "OnDemandThroughput" in wanted:
            index = replace(index, on_demand=limited(table, index, wanted["OnDemandThroughput"], index.name))
        if "WarmThroughput" in wanted:
            index = replace(index, warm=warmed(table, index, wanted["WarmThroughput"], index.name))
        table = table.with_index(index)
    return table


def limited(table: TableDefinition, owner: Owner, wanted: Units, what: str) -> Units | None:
    return changed_maximum(owner.on_demand, wanted, what, table.region, table.billing_mode)


def warmed(table: TableDefinition, owner: Owner, wanted: Units, what: str) -> Units | None:
    return raised_warm(owner.warm, wanted, owner.throughput, what, table.region, table.billing_mode)


def changed_class(table: TableDefinition, wanted: str, now_micros: int) -> TableDefinition:
    recent = tuple(at for at in table.table_class_changes_micros if now_micros - at < 30 * DAY_MICROS)
    if len(recent) >= TABLE_CLASS_CHANGES_PER_30_DAYS:
        raise LimitExceededException(
            "Subscriber limit exceeded: Updates to TableClass are limited to "
            f"{TABLE_CLASS_CHANGES_PER_30_DAYS} times in 30 day(s)."
        )
    return replace(table, table_class=wanted, table_class_changes_micros=(*recent, now_micros))


OPERATION = Operation(name="UpdateTable", run=update_table)
