"""DescribeInsightRules: the rules by which Contributor Insights counts keys."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.operations.cloudwatch.insight_rules import SCHEMA, definition_of, insight_rules
from hashrange.operations.operation import Operation, Request

PAGE_MAX = 500


def describe_insight_rules(db: Database, request: Request) -> dict[str, Any]:
    limit = request.get("MaxResults", PAGE_MAX)
    after_name = request.get("NextToken", "")
    with db.read() as snapshot:
        found = sorted(insight_rules(db, snapshot, request.scope), key=lambda each: each[0])
    page = [each for each in found if each[0] > after_name]
    rules = [
        {
            "Name": name,
            "State": "ENABLED",
            "Schema": SCHEMA,
            "Definition": definition_of(resource, rule),
            "ManagedRule": True,
        }
        for name, resource, rule in page[:limit]
    ]
    answer: dict[str, Any] = {"InsightRules": rules}
    return {**answer, "NextToken": page[limit - 1][0]} if len(page) > limit else answer


OPERATION = Operation(name="DescribeInsightRules", run=describe_insight_rules, service="cloudwatch")
