"""What could be done better about a request, said only where the request itself gives reason to."""

from __future__ import annotations

from collections.abc import Iterator

from hashrange.engine.source import Source
from hashrange.engine.usage import WRITE, Use
from hashrange.explain.explanation import SCAN, Step
from hashrange.explain.pages import RangeRead
from hashrange.explain.words import counted, number, units
from hashrange.operations.operation import Request

PROJECTIONS = ("ProjectionExpression", "AttributesToGet")
LARGE_ITEM_BYTES = 4096
WASTE = 0.5  # the part of what was evaluated that a filter may throw away without a word


def range_hints(request: Request, read: RangeRead, step: Step) -> Iterator[str]:
    """About a Query, a Scan or a SELECT of a range."""
    evaluated, returned = step.items_evaluated or 0, step.items_returned or 0
    if read.filter_names:
        yield from _filter_hints(read, evaluated, returned)
        if request.get("Limit") is not None:
            yield "Limit counts the items before the filter, so a page may have fewer items than it, even none."
    if step.access == SCAN:
        yield from _scan_hints(read)
    if read.reading.fetching:
        yield (
            f"The index does not have all of the attributes that are asked for, so every item is fetched from the "
            f"table as well. Projecting them into index {step.index} would save {units(step.consumed.table)} of "
            f"{number(step.consumed.total)}."
        )
    elif read.reading.projection is not None:
        yield "A projection makes the answer smaller, not the read: whole items are read and paid for."
    if read.reading.counting:
        yield "COUNT costs as much as returning the items. A counter that is updated with them costs one lookup."
    if read.reading.consistent:
        yield "ConsistentRead doubles the price. Without it the answer may be a moment old."


def _filter_hints(read: RangeRead, evaluated: int, returned: int) -> Iterator[str]:
    if not evaluated or returned > evaluated * (1 - WASTE):
        return
    names = ", ".join(read.filter_names)
    yield (
        f"The filter on {names} is applied after the read: {counted(evaluated - returned, 'item')} of "
        f"{number(evaluated)} were read, paid for and thrown away."
    )
    yield _better_key(read)


def _better_key(read: RangeRead) -> str:
    """Which key would read only what the filter lets through: one that there is, or one that there could be."""
    source, wanted = read.source, read.filter_names
    if read.names_partition:
        partition = source.partition[0][0]
        for name, key in _other_keys(source):
            if key[0] == partition and len(key) > 1 and key[1] in wanted:
                return f"{name} has {partition} and {key[1]} as its key: a Query there reads only what is wanted."
        return f"An index with {partition} as its partition key and {wanted[0]} as its sort key would read only that."
    for name, key in _other_keys(source):
        if key[0] in wanted:
            return f"{name} has {key[0]} as its partition key: a Query there reads only what is wanted."
    return (
        f"A global secondary index with {wanted[0]} in its key would read only what is wanted; it is smallest if only "
        "the items that are looked for have the attribute."
    )


def _other_keys(source: Source) -> list[tuple[str, tuple[str, ...]]]:
    """The table and its indexes, each with the attributes of its key, without the one that is read."""
    table = source.table
    found = [("The table itself", table.key.names)] if source.index is not None else []
    return found + [(f"Index {index.name}", index.key_names) for index in table.indexes if index is not source.index]


def _scan_hints(read: RangeRead) -> Iterator[str]:
    source = read.source
    partition = source.partition[0][0]
    if partition in read.filter_names:
        yield f"The filter names the partition key {partition}: as a key condition of a Query it would be a lookup."
    else:
        yield (
            "A Scan reads everything, whatever it returns, and costs more with every item that is added. "
            f"A Query names the partition key, {partition}."
        )


def item_hints(request: Request, use: Use, step: Step, old_bytes: int) -> Iterator[str]:
    """About reads and writes of items by their keys."""
    if use.kind == WRITE:
        yield from _write_hints(use, old_bytes)
        return
    if any(name in request for name in PROJECTIONS) and old_bytes > LARGE_ITEM_BYTES:
        yield "A projection makes the answer smaller, not the read: whole items are read and paid for."
    if request.get("ConsistentRead"):
        yield "ConsistentRead doubles the price. Without it the answer may be a moment old."


def _write_hints(use: Use, old_bytes: int) -> Iterator[str]:
    consumed = use.consumed
    if old_bytes > LARGE_ITEM_BYTES:
        yield (
            f"A write pays for the whole item, {number(old_bytes)} bytes, however little of it changes. Attributes "
            "that change often are cheaper in an item of their own."
        )
    indexes = sum(consumed.local_indexes.values()) + sum(consumed.global_indexes.values())
    if indexes > consumed.table:
        yield (
            f"The indexes cost {units(indexes)}, more than the table itself. An index that projects fewer attributes, "
            "or whose key is missing from most items, is written less."
        )
