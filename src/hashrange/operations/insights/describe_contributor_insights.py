"""DescribeContributorInsights: whether the keys of a table or index are watched, and under which rules."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.insights.rules import status_of
from hashrange.operations.insights.lookup import find_resource, names_of
from hashrange.operations.operation import Operation, Request


def describe_contributor_insights(db: Database, request: Request) -> dict[str, Any]:
    with db.read() as snapshot:
        resource = find_resource(db, snapshot, request)
    insights = resource.insights
    answer = {**names_of(resource), "ContributorInsightsStatus": status_of(insights, db.clock.micros())}
    if insights is None:
        return answer
    answer["LastUpdateDateTime"] = insights.updated_at_micros / 1_000_000
    if insights.mode is not None:
        answer["ContributorInsightsMode"] = insights.mode
        answer["ContributorInsightsRuleList"] = [resource.rule_name(rule) for rule in resource.rules]
    return answer


OPERATION = Operation(name="DescribeContributorInsights", run=describe_contributor_insights)
