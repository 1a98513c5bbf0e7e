"""`hashrange cost`: what a month of the observed traffic would cost, and what could be done about it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from hashrange.cli.columns import columns
from hashrange.cli.directory import existing_table, open_database
from hashrange.cli.options import ConfigurationError
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.engine.scope import scope_of
from hashrange.metrics.points import DAYS_KEPT
from hashrange.pricing.estimate import GIGABYTE, Estimate, Option, estimate, units
from hashrange.pricing.findings import Finding, Spending, findings, spending
from hashrange.pricing.prices import BUILT_IN, BadPrices, ClassPrices, Prices
from hashrange.pricing.traffic import traffic_of
from hashrange.storage import Snapshot

MINUTES_PER_DAY = 24 * 60
SAVING_SHARE_MIN = 0.05  # of the present cost: what is less is not worth a change
SPENDING_ROWS = 5


def run(arguments: argparse.Namespace) -> int:
    if arguments.print_prices:
        print(BUILT_IN.read_text(encoding="utf-8"), end="")
        return 0
    if not 0 < arguments.days <= DAYS_KEPT:
        raise ConfigurationError(f"--days must be more than 0 and at most {DAYS_KEPT}, for which metrics are kept.")
    prices = load_prices(arguments.prices)
    found = list(estimates(arguments, prices))
    if arguments.json:
        print(orjson.dumps(as_json(found, prices), option=orjson.OPT_INDENT_2).decode())
    elif arguments.table is None:
        print("\n".join(summary_lines(found)))
    else:
        print("\n".join(table_lines(found[0], prices)))
    return 0


def load_prices(file: str | None) -> Prices:
    try:
        return Prices.parse((BUILT_IN if file is None else Path(file)).read_text(encoding="utf-8"))
    except (BadPrices, OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(str(error)) from None


def estimates(arguments: argparse.Namespace, prices: Prices) -> Iterator[Estimate]:
    """Of the table that is named, or of all tables."""
    db = open_database(arguments)
    try:
        now = db.clock.micros()
        with db.read() as snapshot:
            for table in tables(db, snapshot, arguments):
                traffic = traffic_of(snapshot, table, now_micros=now, days=arguments.days)
                yield estimate(snapshot, table, traffic, prices, now_micros=now)
    finally:
        db.store.close()


def tables(db: Database, snapshot: Snapshot, arguments: argparse.Namespace) -> Iterator[TableDefinition]:
    if arguments.table is not None:
        yield existing_table(db, snapshot, arguments).definition
        return
    scope = scope_of(arguments.account, arguments.region)
    for name in db.catalog.names(snapshot, scope):
        table = db.catalog.find(snapshot, scope, name)
        if table is not None:
            yield table.definition


def class_prices(found: Estimate, prices: Prices) -> ClassPrices:
    return prices.infrequent_access if found.current.is_infrequent_access else prices.standard


# ---- One table -----------------------------------------------------------------------------------------------------


def table_lines(found: Estimate, prices: Prices) -> Iterator[str]:
    yield from heading(found)
    yield ""
    rows = [option_row(option, found) for option in found.options]
    if found.current not in found.options:
        rows.append(option_row(found.current, found))
    yield from columns(("", "Requests", "Storage", "A month", "Units (read, write)"), rows)
    for name, cost in found.extras.items():
        yield f"Besides: {name}, {dollars(cost)} a month."
    yield ""
    yield recommendation(found)
    price = class_prices(found, prices)
    spent = spending(found, price)
    if spent:
        yield ""
        yield "Where the requests' cost goes, at on-demand prices:"
        yield from columns(("Operation", "A month", "Share"), [spending_row(each) for each in spent[:SPENDING_ROWS]])
    for finding in findings(found, price):
        yield ""
        yield f"{finding.subject}: {dollars(finding.monthly)} a month, {finding.share:.0%}. {finding.advice}"


def heading(found: Estimate) -> Iterator[str]:
    reads, writes = units(found.traffic)
    yield (
        f"Table {found.table.name}: {reads:,.1f} read units and {writes:,.1f} write units in "
        f"{span_text(found.traffic.minutes)}; {found.storage.total / GIGABYTE:,.3f} GB with its indexes."
    )
    if found.traffic.minutes < MINUTES_PER_DAY:
        yield "That is less than a day: what a month of it would cost is a rough guess."


def span_text(minutes: int) -> str:
    if minutes >= 2 * MINUTES_PER_DAY:
        return f"{minutes / MINUTES_PER_DAY:.1f} days"
    return f"{minutes / 60:.1f} hours" if minutes >= 120 else f"{minutes} minutes"


def option_row(option: Option, found: Estimate) -> tuple[str, ...]:
    capacity = option.capacity
    mark = " (now)" if option == found.current else ""
    return (
        f"{option.name}{mark}",
        dollars(option.throughput),
        dollars(option.storage),
        dollars(option.total),
        "" if capacity is None else f"{capacity.read:,.1f}, {capacity.write:,.1f}",
    )


def recommendation(found: Estimate) -> str:
    now, best = found.current, found.best
    if best == now or found.saving <= now.total * SAVING_SHARE_MIN:
        return f"Stay with what it is, {now.name}: nothing else is much cheaper."
    share = found.saving / now.total
    return (
        f"Cheapest: {best.name}, {dollars(best.total)} a month instead of {dollars(now.total)} for {now.name}. "
        f"That saves {dollars(found.saving)}, {share:.0%}."
    )


def spending_row(spent: Spending) -> tuple[str, ...]:
    name = spent.operation if spent.index is None else f"{spent.operation}, index {spent.index}"
    return name, dollars(spent.monthly), f"{spent.share:.1%}"


def dollars(amount: float) -> str:
    """To the cent, and small amounts to two digits that say something."""
    if 0 < amount < 0.01:
        return "under $0.01"
    return f"${amount:,.2f}"


# ---- All tables ----------------------------------------------------------------------------------------------------


def summary_lines(found: list[Estimate]) -> Iterator[str]:
    if not found:
        yield "There are no tables."
        return
    rows = [
        (
            each.table.name,
            each.current.name,
            dollars(each.current.total),
            each.best.name,
            dollars(each.best.total),
            dollars(sum(each.extras.values())),
        )
        for each in found
    ]
    now = sum(each.current.total for each in found)
    best = sum(each.best.total for each in found)
    extras = sum(sum(each.extras.values()) for each in found)
    rows.append(("all", "", dollars(now), "", dollars(best), dollars(extras)))
    yield from columns(("Table", "Now", "A month", "Cheapest", "A month", "Besides"), rows)
    yield ""
    yield f"Paying for each in its cheapest way saves {dollars(now - best)}; `hashrange cost TABLE` tells more."


# ---- JSON ----------------------------------------------------------------------------------------------------------


def as_json(found: list[Estimate], prices: Prices) -> dict[str, Any]:
    return {
        "tables": [table_json(each, class_prices(each, prices)) for each in found],
        "current_monthly": sum(each.current.total for each in found),
        "cheapest_monthly": sum(each.best.total for each in found),
    }


def table_json(found: Estimate, price: ClassPrices) -> dict[str, Any]:
    reads, writes = units(found.traffic)
    return {
        "table": found.table.name,
        "observed_minutes": found.traffic.minutes,
        "read_units": reads,
        "write_units": writes,
        "storage_bytes": found.storage.total,
        "current": option_json(found.current),
        "cheapest": option_json(found.best),
        "saving_monthly": found.saving,
        "options": [option_json(option) for option in found.options],
        "extras_monthly": found.extras,
        "operations": [spending_json(each) for each in spending(found, price)],
        "findings": [finding_json(each) for each in findings(found, price)],
    }


def option_json(option: Option) -> dict[str, Any]:
    capacity = option.capacity
    return {
        "mode": option.mode,
        "table_class": "STANDARD_INFREQUENT_ACCESS" if option.is_infrequent_access else "STANDARD",
        "throughput_monthly": option.throughput,
        "storage_monthly": option.storage,
        "total_monthly": option.total,
        "capacity": None if capacity is None else {"read": capacity.read, "write": capacity.write},
    }


def spending_json(spent: Spending) -> dict[str, Any]:
    return {"operation": spent.operation, "index": spent.index, "monthly": spent.monthly, "share": spent.share}


def finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "subject": finding.subject,
        "monthly": finding.monthly,
        "share": finding.share,
        "advice": finding.advice,
    }
