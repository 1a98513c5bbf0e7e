"""Reads of ranges, by Query, Scan and SELECT: what a page evaluates, what it costs, and how much more there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hashrange.engine.database import Database
from hashrange.engine.page import Reading
from hashrange.engine.source import Range, Source
from hashrange.engine.units import read_units
from hashrange.engine.usage import READ, Use
from hashrange.explain.explanation import RANGE, SCAN, Step, Whole
from hashrange.explain.words import counted, key_text, read_arithmetic, units
from hashrange.limits import PAGE_BYTES_MAX
from hashrange.operations.operation import Request
from hashrange.operations.partiql.find import find_source as find_selected
from hashrange.operations.partiql.select import ranges_of
from hashrange.operations.partiql.select import reading_of as reading_of_select
from hashrange.operations.reads import query, scan
from hashrange.operations.reads.parameters import (
    parse_legacy_query,
    parse_legacy_scan,
    prepare_query,
    prepare_scan,
)
from hashrange.operations.reads.source import find_source
from hashrange.partiql import Select
from hashrange.partiql import prepare as prepare_statement
from hashrange.partiql.where import Meaning
from hashrange.storage.interface import Snapshot
from hashrange.values.item import stored_size
from hashrange.values.ordered import after

ENTRIES_COUNTED_MAX = 100_000  # of a long range; what is beyond is not looked at


@dataclass(frozen=True, slots=True)
class RangeRead:
    """A read of one range after the other, and what the request says about what it finds."""

    reading: Reading
    ranges: Sequence[Range]
    filter_names: tuple[str, ...] = ()
    names_partition: bool = True

    @property
    def source(self) -> Source:
        return self.reading.source


def range_read(db: Database, snapshot: Snapshot, operation: str, request: Request) -> RangeRead:
    if operation == "ExecuteStatement":
        return _selected(db, snapshot, request)
    source = find_source(db, snapshot, request)
    if operation == "Query":
        prepared = prepare_query(request, parse_legacy_query(request))
        reading = query.reading_of(request, prepared, source)
    else:
        prepared = prepare_scan(request, parse_legacy_scan(request))
        reading = scan.reading_of(request, prepared, source)
    names = () if prepared.filter is None else tuple(dict.fromkeys(prepared.filter.top_level_names))
    return RangeRead(reading, [reading.range], names, names_partition=operation == "Query")


def _selected(db: Database, snapshot: Snapshot, request: Request) -> RangeRead:
    prepared = prepare_statement(request["Statement"], request.get("Parameters"))
    select = prepared.body
    assert isinstance(select, Select)
    consistent = request.get("ConsistentRead", False)
    source = find_selected(db, snapshot, request.scope, select.table, consistent=consistent)
    use = select.where.for_key(source.partition[0][0], source.sort[0][0] if source.sort else None, Meaning.FILTER)
    reading = reading_of_select(request, source, select, use, prepared.values)
    names = () if use.condition is None else tuple(dict.fromkeys(use.condition.top_level_names))
    ranges = ranges_of(source, select, use, prepared.values)
    return RangeRead(reading, ranges, names, names_partition=bool(use.partition_values))


def page_step(snapshot: Snapshot, read: RangeRead, use: Use) -> Step:
    """The first page of a read, which is all that one request gets."""
    source = read.source
    evaluated = use.evaluated or 0
    sizes = list(_sizes(snapshot, read, evaluated))
    return Step(
        table=source.table.name,
        index=None if source.index is None else source.index.name,
        access=RANGE if read.names_partition else SCAN,
        what=_what(read),
        kind=READ,
        consumed=use.consumed,
        arithmetic=list(_arithmetic(read, sizes, use)),
        items_evaluated=evaluated,
        bytes_evaluated=sum(sum(each) for each in sizes),
        items_returned=use.returned,
        whole=_whole(snapshot, read),
    )


def _sizes(snapshot: Snapshot, read: RangeRead, evaluated: int) -> Iterator[list[int]]:
    """The sizes of the entries that were evaluated, range by range."""
    left = evaluated
    for span in read.ranges:
        entries = snapshot.scan(*span, reverse=read.reading.reverse, limit=left)
        sizes = [stored_size(stored) for _, stored in entries] if left else []
        left -= len(sizes)
        yield sizes
        if not left:
            return


def _what(read: RangeRead) -> str:
    source, partition = read.source, read.reading.partition
    where = f"table {source.table.name}" if source.index is None else f"index {source.index.name}"
    if not read.names_partition:
        return f"all of {where}" if read.ranges == [source.whole()] else f"a part of {where}"
    if partition is None:
        return f"{counted(len(read.ranges), 'partition')} of {where}"
    names = [name for name, _ in source.partition]
    one = source.partition_prefix(tuple(partition[name] for name in names), ())
    narrowed = f", narrowed by {source.sort[0][0]}" if source.sort and read.ranges != [(one, after(one))] else ""
    return f"the partition {key_text(partition, names)} of {where}{narrowed}"


def _arithmetic(read: RangeRead, sizes: list[list[int]], use: Use) -> Iterator[str]:
    factor = 1.0 if read.reading.consistent else 0.5
    index = read.source.index
    where = f"table {read.source.table.name}" if index is None else f"index {index.name}"
    for each in sizes:
        text = read_arithmetic(sum(each), factor) if each else read_arithmetic(None, factor)
        yield f"{where}: {counted(len(each), 'item')} evaluated, their sizes added up: {text}"
    if index is not None and not index.is_global and use.consumed.table:
        yield (
            f"table {read.source.table.name}: {counted(use.returned or 0, 'item')} fetched whole, for what the index "
            f"does not project, each rounded up by itself: {units(use.consumed.table)}"
        )


def _whole(snapshot: Snapshot, read: RangeRead) -> Whole | None:
    """All pages together, if there is more than one. Where whole items are fetched, only the index is counted."""
    items = size_bytes = pages = 0
    paid = 0.0
    complete = True
    for span in read.ranges:
        entries = snapshot.scan(*span, limit=ENTRIES_COUNTED_MAX + 1 - items)
        for page in _pages(stored_size(stored) for _, stored in entries):
            pages += 1
            items += len(page)
            size_bytes += sum(page)
            paid += read_units(sum(page), consistent=read.reading.consistent)
        if items > ENTRIES_COUNTED_MAX:
            complete = False
            break
    if pages <= len(read.ranges) and read.reading.limit is None:
        return None
    return Whole(items, size_bytes, pages, paid, complete)


def _pages(sizes: Iterator[int]) -> Iterator[list[int]]:
    """Sizes of entries as pages of a megabyte take them."""
    page: list[int] = []
    room = PAGE_BYTES_MAX
    for size in sizes:
        page.append(size)
        room -= size
        if room <= 0:
            yield page
            page, room = [], PAGE_BYTES_MAX
    if page:
        yield page
