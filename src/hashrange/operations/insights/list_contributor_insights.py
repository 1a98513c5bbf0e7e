"""ListContributorInsights: the tables and indexes whose keys are or were watched, with their state."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from itertools import islice
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.lifecycle import existing_table
from hashrange.engine.scope import resolve_table
from hashrange.errors import ValidationException
from hashrange.insights.rules import Resource, resources, status_of
from hashrange.limits import INSIGHTS_PAGE_MAX
from hashrange.operations.insights.lookup import names_of
from hashrange.operations.operation import Operation, Request
from hashrange.storage.interface import Snapshot

Position = tuple[str, str]
"""A table and one of its indexes; an empty name stands for the table itself, which comes before them."""


def list_contributor_insights(db: Database, request: Request) -> dict[str, Any]:
    limit = request.get("MaxResults", INSIGHTS_PAGE_MAX)
    if limit < 1:
        raise ValidationException("MaxResults must be between 1 and 100")
    start = position_of(request["NextToken"]) if "NextToken" in request else ("", "")
    with db.read() as snapshot:
        found = (each for each in watched(db, snapshot, request, start[0]) if place(each) > start)
        page = list(islice(found, limit + 1))
    now = db.clock.micros()
    answer: dict[str, Any] = {"ContributorInsightsSummaries": [summary(each, now) for each in page[:limit]]}
    if len(page) > limit:
        answer["NextToken"] = token_of(place(page[limit - 1]))
    return answer


def watched(db: Database, snapshot: Snapshot, request: Request, start_table: str) -> Iterator[Resource]:
    """Those of the table that the request names, or of all tables from one on, that ever were watched."""
    if "TableName" in request:
        scope, name = resolve_table(request.scope, request["TableName"])
        names: Iterator[str] = iter((existing_table(db, snapshot, scope, name).name,))
    else:
        scope = request.scope
        names = (name for name in db.catalog.names(snapshot, scope) if name >= start_table)
    for name in names:
        table = db.catalog.find(snapshot, scope, name)
        if table is not None:
            yield from (each for each in resources(table.definition) if each.insights is not None)


def place(resource: Resource) -> Position:
    return resource.table.name, "" if resource.index is None else resource.index.name


def summary(resource: Resource, now_micros: int) -> dict[str, Any]:
    insights = resource.insights
    answer = {**names_of(resource), "ContributorInsightsStatus": status_of(insights, now_micros)}
    if insights is not None and insights.mode is not None:
        answer["ContributorInsightsMode"] = insights.mode
    return answer


def token_of(position: Position) -> str:
    return urlsafe_b64encode("/".join(position).encode()).decode()


def position_of(token: str) -> Position:
    try:
        table, _, index = urlsafe_b64decode(token.encode("ascii")).decode().partition("/")
    except ValueError:
        raise ValidationException("Invalid NextToken") from None
    return table, index


OPERATION = Operation(name="ListContributorInsights", run=list_contributor_insights)
