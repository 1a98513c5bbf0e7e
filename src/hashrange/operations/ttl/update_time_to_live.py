"""UpdateTimeToLive: choose the attribute by which items expire, or let them live."""

from __future__ import annotations

from dataclasses import replace

from hashrange.engine import keyspace, lifecycle
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition, TableRecord
from hashrange.engine.lifecycle import Mutation
from hashrange.engine.scope import resolve_table
from hashrange.errors import ResourceInUseException, ValidationException
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot
from hashrange.ttl.record import TimeToLive


def update_time_to_live(db: Database, request: Request) -> Write:
    scope, name = resolve_table(request.scope, request["TableName"])
    wanted = request["TimeToLiveSpecification"]

    def plan(snapshot: Snapshot) -> Plan:
        table = lifecycle.existing_table(db, snapshot, scope, name).definition
        if table.status not in ("ACTIVE", "UPDATING"):
            raise ResourceInUseException(lifecycle.IN_USE + lifecycle.NOT_READY[table.status].format(name=table.name))
        check(table, wanted["Enabled"], wanted["AttributeName"])
        attribute = wanted["AttributeName"] if wanted["Enabled"] else None
        record = db.catalog.record(snapshot, scope, name)
        mutations = [lifecycle.save(with_attribute(record, attribute)), *word_for_job(table, attribute)]
        return Plan(mutations, answer={"TimeToLiveSpecification": wanted})

    return Write(plan)


def check(table: TableDefinition, enabled: bool, attribute: str) -> None:
    """A change has to change something, and has to name the attribute in use."""
    current = table.ttl_attribute
    if enabled and current == attribute:
        raise ValidationException("TimeToLive is already enabled")
    if not enabled and current is None:
        raise ValidationException("TimeToLive is already disabled")
    if current is not None and current != attribute:
        raise ValidationException(
            f"TimeToLive is active on a different AttributeName: current AttributeName is {current}"
        )


def with_attribute(record: TableRecord, attribute: str | None) -> TableRecord:
    """Time to live changes at once, also while another change of the table is under way."""
    outcome = record.outcome
    return replace(
        record,
        now=replace(record.now, ttl_attribute=attribute),
        outcome=None if outcome is None else replace(outcome, ttl_attribute=attribute),
    )


def word_for_job(table: TableDefinition, attribute: str | None) -> list[Mutation]:
    """Tell the expiry job to queue the items that are there; it notices by itself when they no longer expire."""
    if attribute is None:
        return []
    record = TimeToLive(table.account, table.region, table.name, attribute)
    return [(keyspace.expiring_key(table.id), record.dump())]


OPERATION = Operation(name="UpdateTimeToLive", run=update_time_to_live)
