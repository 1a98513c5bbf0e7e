"""UpdateContributorInsights: begin or cease to watch which keys of a table or index are used most."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hashrange.engine import lifecycle
from hashrange.engine.database import Database
from hashrange.engine.definition import Insights, TableDefinition
from hashrange.engine.scope import resolve_table
from hashrange.errors import ValidationException
from hashrange.insights.rules import ACCESSED_AND_THROTTLED, Resource, status_of
from hashrange.operations.insights.lookup import find_resource, names_of
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot

NOT_ACTIVE = (
    "Table or Index is not in a valid state to update Key Access Insights: "
    "TableStatus must be ACTIVE to enable ContributorInsights."
)
READY = ("ACTIVE", "UPDATING")


def update_contributor_insights(db: Database, request: Request) -> Write:
    scope, name = resolve_table(request.scope, request["TableName"])
    enable = request["ContributorInsightsAction"] == "ENABLE"
    mode = request.get("ContributorInsightsMode", ACCESSED_AND_THROTTLED)

    def plan(snapshot: Snapshot) -> Plan:
        resource = find_resource(db, snapshot, request)
        require_ready(resource)
        wanted = mode if enable else None
        now = db.clock.micros()
        current = resource.insights
        if wanted == (None if current is None else current.mode):
            return Plan(answer=answer_of(resource, status_of(current, now), wanted))
        insights = Insights(wanted, now, now + db.settings.table_delay_micros)
        record = db.catalog.record(snapshot, scope, name).everywhere(
            lambda definition: with_insights(definition, resource, insights)
        )
        status = "ENABLING" if enable else "DISABLING"
        return Plan([lifecycle.save(record)], answer=answer_of(resource, status, wanted))

    return Write(plan)


def require_ready(resource: Resource) -> None:
    index = resource.index
    if resource.table.status not in READY or (index is not None and index.status not in READY):
        raise ValidationException(NOT_ACTIVE)


def with_insights(definition: TableDefinition, resource: Resource, insights: Insights) -> TableDefinition:
    """The definition with the change; an index may be gone from what the table is about to become."""
    if resource.index is None:
        return replace(definition, insights=insights)
    index = definition.index(resource.index.name)
    return definition if index is None else definition.with_index(replace(index, insights=insights))


def answer_of(resource: Resource, status: str, mode: str | None) -> dict[str, Any]:
    answer = {**names_of(resource), "ContributorInsightsStatus": status}
    return answer if mode is None else {**answer, "ContributorInsightsMode": mode}


OPERATION = Operation(name="UpdateContributorInsights", run=update_contributor_insights)
