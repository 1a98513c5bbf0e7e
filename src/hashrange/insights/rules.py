"""The rules of Contributor Insights: which keys are counted for a table or an index that is watched.

DynamoDB makes up to four CloudWatch rules for each: the most used and the most throttled keys, by partition key and,
if there is a sort key, by partition and sort key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hashrange.engine import keyspace
from hashrange.engine.definition import IndexDefinition, Insights, KeySchema, TableDefinition

ACCESSED_AND_THROTTLED = "ACCESSED_AND_THROTTLED_KEYS"

NAME_PREFIX = "DynamoDBContributorInsights"
NAME_CHARACTERS_MAX = 128  # of a CloudWatch rule (CloudWatch API reference, InsightRuleName)


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of counting keys. The number names it in stored keys, the code in the names that clients see."""

    number: int
    code: str
    counts_throttles: bool  # or what was used
    by_sort_key: bool  # as well as by partition key


ACCESSED_PARTITIONS = Rule(0, "PKC", counts_throttles=False, by_sort_key=False)
ACCESSED_ITEMS = Rule(1, "SKC", counts_throttles=False, by_sort_key=True)
THROTTLED_PARTITIONS = Rule(2, "PKT", counts_throttles=True, by_sort_key=False)
THROTTLED_ITEMS = Rule(3, "SKT", counts_throttles=True, by_sort_key=True)
RULES = (ACCESSED_PARTITIONS, ACCESSED_ITEMS, THROTTLED_PARTITIONS, THROTTLED_ITEMS)


@dataclass(frozen=True, slots=True)
class Resource:
    """A table or a global secondary index, as something whose keys can be watched."""

    table: TableDefinition
    index: IndexDefinition | None

    @property
    def insights(self) -> Insights | None:
        return self.table.insights if self.index is None else self.index.insights

    @property
    def index_number(self) -> int:
        return keyspace.BASE_TABLE if self.index is None else self.index.number

    @property
    def key(self) -> KeySchema:
        return self.table.key if self.index is None else self.index.key

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Those that are in force."""
        if self.insights is None or self.insights.mode is None:
            return ()
        accessed = self.insights.mode == ACCESSED_AND_THROTTLED
        return tuple(
            rule for rule in RULES if (accessed or rule.counts_throttles) and (self.key.sort or not rule.by_sort_key)
        )

    def rule_name(self, rule: Rule) -> str:
        assert self.insights is not None
        made_at = str(self.insights.updated_at_micros // 1000)
        start = f"{NAME_PREFIX}-{rule.code}-"
        name = self.table.name if self.index is None else f"{self.table.name}-{self.index.name}"
        return f"{start}{name[: NAME_CHARACTERS_MAX - len(start) - 1 - len(made_at)]}-{made_at}"


def resources(table: TableDefinition) -> Iterator[Resource]:
    """A table and its global secondary indexes, in the order of their names."""
    yield Resource(table, None)
    for index in sorted(table.global_indexes, key=lambda index: index.name):
        yield Resource(table, index)


def status_of(insights: Insights | None, now_micros: int) -> str:
    if insights is None:
        return "DISABLED"
    settled = now_micros >= insights.settles_at_micros
    if insights.mode is None:
        return "DISABLED" if settled else "DISABLING"
    return "ENABLED" if settled else "ENABLING"
