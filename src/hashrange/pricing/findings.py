"""The requests that cost most, and what to do about them.

Costs are those of the on-demand mode, which has a price for every request; where capacity is provisioned they say how
much of it a request takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hashrange.engine.definition import ALL, IndexDefinition
from hashrange.pricing.estimate import MILLION, Estimate
from hashrange.pricing.prices import ClassPrices
from hashrange.pricing.traffic import Work

WASTE = 0.5  # the part of what was evaluated that may be thrown away without a word
WRITES_PER_READ = 10  # an index that is written so many times more than it is read is looked at
SHARE_MIN = 0.05  # of the cost of all requests: what is less is not worth a word
TRANSACTIONS = ("TransactWriteItems", "TransactGetItems", "ExecuteTransaction")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that costs, how much in a month, and what could be done."""

    subject: str
    monthly: float
    share: float  # of the cost of all requests of the table
    advice: str


@dataclass(frozen=True, slots=True)
class Spending:
    """What an operation cost on a table or an index."""

    operation: str
    index: str | None
    monthly: float
    share: float


def spending(found: Estimate, price: ClassPrices) -> list[Spending]:
    """What each operation cost, the most expensive first."""
    costs = {key: cost_of(work, price) / found.months for key, work in found.traffic.work.items()}
    whole = sum(costs.values())
    if not whole:
        return []
    listed = [Spending(operation, index, cost, cost / whole) for (operation, index), cost in costs.items()]
    return sorted(listed, key=lambda each: (-each.monthly, each.operation, each.index or ""))


def cost_of(work: Work, price: ClassPrices) -> float:
    return (work.reads * price.read_million + work.writes * price.write_million) / MILLION


def findings(found: Estimate, price: ClassPrices) -> list[Finding]:
    """What is worth a word, the most expensive first."""
    spent = spending(found, price)
    every = [*scans(spent), *wasteful_filters(found, spent), *idle_indexes(found, spent), *transactions(spent)]
    return sorted((each for each in every if each.share >= SHARE_MIN), key=lambda each: -each.monthly)


def scans(spent: list[Spending]) -> Iterator[Finding]:
    monthly, share = together(spent, "Scan")
    if monthly:
        yield Finding(
            "Scan",
            monthly,
            share,
            "A Scan reads everything, whatever it returns. Query a partition or an index; for the whole table, an "
            "export costs less and takes no capacity.",
        )


def wasteful_filters(found: Estimate, spent: list[Spending]) -> Iterator[Finding]:
    for operation, evaluated in found.traffic.evaluated.items():
        returned = found.traffic.returned.get(operation, 0.0)
        wasted = 1 - returned / evaluated if evaluated else 0.0
        if wasted <= WASTE:
            continue
        monthly, share = together(spent, operation)
        yield Finding(
            f"filters of {operation}",
            monthly * wasted,
            share * wasted,
            f"Of {evaluated:,.0f} items that were read only {returned:,.0f} were returned. A filter is applied after "
            "the read is paid for: put the condition into the key, or into a sparse index.",
        )


def idle_indexes(found: Estimate, spent: list[Spending]) -> Iterator[Finding]:
    for index in found.table.global_indexes:
        load = found.traffic.loads[index.name]
        reads, writes = sum(load.reads.values()), sum(load.writes.values())
        if writes and reads * WRITES_PER_READ < writes:
            monthly = sum(each.monthly for each in spent if each.index == index.name)
            share = sum(each.share for each in spent if each.index == index.name)
            yield Finding(f"index {index.name}", monthly, share, index_advice(index, reads, writes))


def index_advice(index: IndexDefinition, reads: float, writes: float) -> str:
    if not reads:
        return f"It took {writes:,.0f} write units and was never read. Delete it, if nobody needs it."
    text = f"It took {writes:,.0f} write units and only {reads:,.0f} read units."
    if index.projection == ALL:
        text += " It projects all attributes, so every change of an item is written twice: project only what is read."
    return text


def transactions(spent: list[Spending]) -> Iterator[Finding]:
    for operation in TRANSACTIONS:
        monthly, share = together(spent, operation)
        if monthly:
            yield Finding(
                operation,
                monthly / 2,
                share / 2,
                "Items cost double in a transaction. What need not happen together is cheaper apart; a single item "
                "needs only a condition.",
            )


def together(spent: list[Spending], operation: str) -> tuple[float, float]:
    mine = [each for each in spent if each.operation == operation]
    return sum(each.monthly for each in mine), sum(each.share for each in mine)
