"""The rules that Contributor Insights for DynamoDB makes, as CloudWatch knows them."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from hashrange.engine.database import Database
from hashrange.engine.scope import Scope
from hashrange.insights.rules import Resource, Rule, resources
from hashrange.storage.interface import Snapshot

SCHEMA = '{"Name":"ServiceLogRule","Version":1}'


def insight_rules(db: Database, snapshot: Snapshot, scope: Scope) -> Iterator[tuple[str, Resource, Rule]]:
    """Every rule in force in a scope, with its name."""
    for name in db.catalog.names(snapshot, scope):
        table = db.catalog.find(snapshot, scope, name)
        if table is not None and table.is_watched:
            for resource in resources(table.definition):
                for rule in resource.rules:
                    yield resource.rule_name(rule), resource, rule


def definition_of(resource: Resource, rule: Rule) -> str:
    """What a rule counts, in the syntax of rules."""
    names = resource.key.names if rule.by_sort_key else resource.key.partition
    contribution = {"Keys": list(names), **({} if rule.counts_throttles else {"ValueOf": "ConsumedThroughputUnits"})}
    members = {"Schema": orjson.Fragment(SCHEMA), "AggregateOn": aggregate_of(rule), "Contribution": contribution}
    return orjson.dumps(members).decode()


def aggregate_of(rule: Rule) -> str:
    """Throttles are counted; what was used is added up."""
    return "Count" if rule.counts_throttles else "Sum"
