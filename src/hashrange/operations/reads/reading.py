"""What Query and Scan have in common: find the source, read a page of it, answer with what was found."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.page import Page, Reading, Walk, answer, go_on, page_of
from hashrange.engine.source import Range, Source
from hashrange.engine.usage import READ, Use
from hashrange.expressions import Prepared
from hashrange.operations.items.parameters import report_consumed
from hashrange.operations.operation import LongRead, Request
from hashrange.operations.reads.selection import Selection
from hashrange.operations.reads.source import find_source, require_same
from hashrange.values.types import Attributes


def read(db: Database, request: Request, reading_of: Callable[[Source], Reading]) -> dict[str, Any] | LongRead:
    """Read a page, or begin to. `reading_of` checks the request against the table and says what to read."""
    walk = Walk()
    with db.read() as snapshot:
        reading = reading_of(find_source(db, snapshot, request))
        complete = go_on(snapshot, reading, walk)
    if complete:
        return answer_of(db, request, reading, walk)
    return LongRead(partial(read_on, db, request, reading, walk), held_bytes=walk.held_bytes)


def read_on(db: Database, request: Request, reading: Reading, walk: Walk) -> dict[str, Any] | None:
    """Read another part of a page; the answer if that was the last."""
    with db.read() as snapshot:
        require_same(find_source(db, snapshot, request), reading.source)
        complete = go_on(snapshot, reading, walk)
    return answer_of(db, request, reading, walk) if complete else None


def answer_of(db: Database, request: Request, reading: Reading, walk: Walk) -> dict[str, Any]:
    page = page_of(reading, walk)
    db.spend(request.usage, use_of(reading, page))
    consumed = report_consumed(request, reading.source.table, page.consumed)
    return {**answer(page, counting=reading.counting), **consumed}


def use_of(reading: Reading, page: Page) -> Use:
    """What a page cost, and whom."""
    source, partition = reading.source, reading.partition
    return Use(
        source.table,
        READ,
        page.consumed,
        b"" if partition is None else reading.range[0][len(source.prefix) :],
        () if partition is None else (partition,),
        None if source.index is None else source.index.name,
        page.scanned_count,
        page.count,
    )


def new_reading(
    request: Request,
    source: Source,
    prepared: Prepared,
    selection: Selection,
    span: Range,
    *,
    partition: Attributes | None = None,
    reverse: bool = False,
) -> Reading:
    return Reading(
        source=source,
        range=span,
        reverse=reverse,
        limit=request.get("Limit"),
        consistent=request.get("ConsistentRead", False),
        filter=None if prepared.filter is None else prepared.filter.with_values(prepared.values),
        projection=selection.projection,
        counting=selection.counting,
        partition=partition,
        fetching=selection.fetching,
    )
