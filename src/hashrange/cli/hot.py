"""`hashrange hot`: which keys of a table or an index were used most, or throttled most."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import Any

import orjson

from hashrange.cli.columns import columns
from hashrange.cli.directory import reading
from hashrange.cli.endpoint import Endpoint, Refused, call, headers_for
from hashrange.cli.history import quoted
from hashrange.cli.options import ConfigurationError
from hashrange.clock import SystemClock
from hashrange.engine.definition import TableDefinition
from hashrange.explain.words import counted, number
from hashrange.insights.report import Contributor, Report, report
from hashrange.insights.rules import RULES, Resource, Rule, resources
from hashrange.insights.window import MINUTES_KEPT, minute_of

FOUND, NOT_FOUND = 0, 1
CHARACTERS_MAX = 60
CONTRIBUTORS_MAX = 100
SECONDS_PER_MINUTE = 60
ENABLE = "aws dynamodb update-contributor-insights --contributor-insights-action ENABLE --table-name {}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found, and by which rule. Nothing is counted by a rule that is not in force."""

    rule: Rule
    in_force: bool
    report: Report


def run(arguments: argparse.Namespace) -> int:
    if not 1 <= arguments.minutes <= MINUTES_KEPT:
        raise ConfigurationError(f"--minutes must be from 1 to {MINUTES_KEPT}: keys are kept for a day.")
    if not 1 <= arguments.top <= CONTRIBUTORS_MAX:
        raise ConfigurationError(f"--top must be from 1 to {CONTRIBUTORS_MAX}.")
    seen = in_directory(arguments) if arguments.endpoint is None else through_endpoint(arguments)
    if arguments.json:
        print(orjson.dumps(as_json(arguments, seen)).decode())
    elif seen.report.contributors:
        show(arguments, seen)
    else:
        show_nothing(arguments, seen)
    return FOUND if seen.report.contributors else NOT_FOUND


# ---- Where the numbers come from -----------------------------------------------------------------------------------


def in_directory(arguments: argparse.Namespace) -> Seen:
    with reading(arguments) as (snapshot, table, now_micros):
        resource = chosen(table.definition, arguments.index)
        rule = rule_of(arguments, by_sort_key=bool(resource.key.sort))
        end = minute_of(now_micros) + 1
        found = report(
            snapshot,
            resource,
            rule,
            first_minute=end - arguments.minutes,
            end_minute=end,
            contributors_max=arguments.top,
        )
    return Seen(rule, rule in resource.rules, found)


def chosen(table: TableDefinition, index_name: str | None) -> Resource:
    for each in resources(table):
        if index_name == (None if each.index is None else each.index.name):
            return each
    names = ", ".join(index.name for index in table.global_indexes) or "none"
    raise ConfigurationError(f"Table {table.name} has no global secondary index {index_name}; it has: {names}.")


def rule_of(arguments: argparse.Namespace, *, by_sort_key: bool) -> Rule:
    wanted = arguments.throttled, by_sort_key and not arguments.partitions
    return next(rule for rule in RULES if (rule.counts_throttles, rule.by_sort_key) == wanted)


def through_endpoint(arguments: argparse.Namespace) -> Seen:
    """The same by way of CloudWatch's API, which tells only what the rules in force have counted."""
    endpoint = Endpoint(arguments.endpoint, arguments.region)
    headers = headers_for(arguments.account, arguments.region)
    resource = {"TableName": arguments.table, **({} if arguments.index is None else {"IndexName": arguments.index})}
    try:
        described = call(endpoint, headers, "dynamodb", "DescribeContributorInsights", resource)
        names = {name.split("-")[1]: name for name in described.get("ContributorInsightsRuleList", [])}
        rule = rule_of(arguments, by_sort_key="SKT" in names)
        if rule.code not in names:
            return Seen(rule, False, Report(()))
        end = SystemClock().seconds()
        start = end - arguments.minutes * SECONDS_PER_MINUTE
        wanted = {"RuleName": names[rule.code], "StartTime": start, "EndTime": end, "Period": SECONDS_PER_MINUTE}
        wanted["MaxContributorCount"] = arguments.top
        return Seen(rule, True, report_of(call(endpoint, headers, "monitoring", "GetInsightRuleReport", wanted)))
    except Refused as refused:
        raise ConfigurationError(f"The server refuses: {refused}") from None
    finally:
        endpoint.close()


def report_of(answer: dict[str, Any]) -> Report:
    contributors = [
        Contributor(tuple(each["Keys"]), each["ApproximateAggregateValue"], []) for each in answer["Contributors"]
    ]
    return Report(
        labels=tuple(answer["KeyLabels"]),
        total=answer["AggregateValue"],
        known_keys=answer["ApproximateUniqueCount"],
        contributors=contributors,
    )


# ---- How they are shown --------------------------------------------------------------------------------------------


def where(arguments: argparse.Namespace) -> str:
    table = f"table {arguments.table}"
    return table if arguments.index is None else f"index {arguments.index} of {table}"


def show_nothing(arguments: argparse.Namespace, seen: Seen) -> None:
    what = "throttled" if seen.rule.counts_throttles else "used"
    span = counted(arguments.minutes, "minute")
    print(f"No key of {where(arguments)} was seen {what} in the last {span}.", file=sys.stderr)
    if not seen.in_force:
        index = "" if arguments.index is None else f" --index-name {arguments.index}"
        print(f"They are not counted. To begin: {ENABLE.format(arguments.table)}{index}", file=sys.stderr)


def show(arguments: argparse.Namespace, seen: Seen) -> None:
    found, throttles = seen.report, seen.rule.counts_throttles
    what = "throttled" if throttles else "used"
    print(f"The keys of {where(arguments)} that were {what} most in the last {counted(arguments.minutes, 'minute')}:")
    rows = [
        (*map(shown, each.key), number(round(each.weight, 2)), f"{each.weight / found.total:.1%}")
        for each in found.contributors
    ]
    header = (*found.labels, "Throttles" if throttles else "Weight", "Share")
    for line in columns(header, rows, left=len(found.labels)):
        print(line)
    unit = "throttles" if throttles else "weight (1 for a read unit, 3 for a write unit)"
    print(f"In all: {number(round(found.total, 2))} {unit}, at {number(found.known_keys)} or more keys.")
    if found.forgotten:
        print(f"There were many keys: each number may be too small by up to {number(round(found.forgotten, 2))}.")


def shown(content: str) -> str:
    text = content if content.isprintable() else quoted(content)
    return text if len(text) <= CHARACTERS_MAX else f"{text[:CHARACTERS_MAX]}..."


def as_json(arguments: argparse.Namespace, seen: Seen) -> dict[str, Any]:
    return {
        "table": arguments.table,
        "index": arguments.index,
        "rule": seen.rule.code,
        "minutes": arguments.minutes,
        "counted": seen.in_force,
        "key": list(seen.report.labels),
        "total": seen.report.total,
        "error_at_most": seen.report.forgotten,
        "keys": [{"key": list(each.key), "weight": each.weight} for each in seen.report.contributors],
    }
