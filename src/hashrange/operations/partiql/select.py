"""SELECT: reading one item, some partitions, or everything.

Which of these it is follows from what the WHERE clause says of the key. The full primary key means one item, as
GetItem reads it; the partition key alone, by equality or with IN, means a query for each of its values; anything
else is a scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from hashrange.engine.database import Database
from hashrange.engine.page import PART_ITEMS, Page, Reading, Walk, go_on, page_of
from hashrange.engine.source import Range, Source
from hashrange.engine.units import Consumed
from hashrange.engine.usage import READ, Use
from hashrange.errors import ValidationException
from hashrange.expressions import KeyClause, KeyCondition, KeyRange, Projection
from hashrange.expressions.checks import Values
from hashrange.limits import PAGE_BYTES_MAX, PARTIQL_PARTITION_VALUES_PAGE, READ_UNIT_BYTES
from hashrange.operations.items.parameters import report_consumed
from hashrange.operations.operation import LongRead, Request
from hashrange.operations.partiql import next_token
from hashrange.operations.partiql.actions import item_read
from hashrange.operations.partiql.find import find_source
from hashrange.operations.partiql.next_token import Position
from hashrange.operations.reads.query import stored_range
from hashrange.operations.reads.selection import check_filter_names
from hashrange.operations.reads.selection import select as select_shown
from hashrange.operations.reads.source import require_same
from hashrange.partiql.statements import Select
from hashrange.partiql.where import KeyUse, Meaning
from hashrange.storage.interface import Snapshot
from hashrange.values.ordered import key_bytes
from hashrange.values.types import Attributes

ORDER_WITHOUT_PARTITION = (
    "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
)
ORDER_BY_OTHER = "Variable reference {} in ORDER BY clause must be part of the primary key"


@dataclass(slots=True)
class Found:
    """What one request found of a SELECT, and where the next goes on."""

    items: Any
    consumed: Consumed
    last_key: Attributes | None = None
    next: Position | None = None
    evaluated: int = 1
    returned: int = 1
    base_key: bytes = b""
    key: Attributes | None = None

    def include(self, page: Page) -> None:
        self.consumed.include(page.consumed)
        self.evaluated += page.scanned_count
        self.returned += page.count

    def use(self, source: Source) -> Use:
        """What it cost, and whom."""
        index = None if source.index is None else source.index.name
        keys = () if self.key is None else (self.key,)
        return Use(source.table, READ, self.consumed, self.base_key, keys, index, self.evaluated, self.returned)


def execute_select(
    db: Database, request: Request, select: Select, values: Values, digest: bytes
) -> dict[str, Any] | LongRead:
    """Read, or begin to. `digest` tells this request's statement from others."""
    token = request.get("NextToken")
    start = Position() if token is None else next_token.decode(token, digest)
    consistent = request.get("ConsistentRead", False)
    with db.read() as snapshot:
        source = find_source(db, snapshot, request.scope, select.table, consistent=consistent)
        use = select.where.for_key(source.partition[0][0], source.sort[0][0] if source.sort else None, Meaning.FILTER)
        check_order(select, source, use)
        found = _item(snapshot, source, select, values, consistent=consistent)
        if found is None:
            reading = reading_of(request, source, select, use, values)
            ranges = ranges_of(source, select, use, values)
            next_token.check_position(start, source, len(ranges))
            tour = Tour(reading, ranges, start)
            if not tour.begin(snapshot):
                return LongRead(partial(read_on, db, request, select, tour, digest), held_bytes=tour.held_bytes)
            found = tour.found
    return answer_of(db, request, source, found, digest)


def read_on(db: Database, request: Request, select: Select, tour: Tour, digest: bytes) -> dict[str, Any] | None:
    """Read another part of what a statement asks for; the answer if that was the last."""
    source = tour.reading.source
    with db.read() as snapshot:
        now = find_source(db, snapshot, request.scope, select.table, consistent=tour.reading.consistent)
        require_same(now, source)
        complete = tour.go_on(snapshot)
    return answer_of(db, request, source, tour.found, digest) if complete else None


def answer_of(db: Database, request: Request, source: Source, found: Found, digest: bytes) -> dict[str, Any]:
    db.spend(request.usage, found.use(source))
    answer: dict[str, Any] = {"Items": found.items}
    if found.next is not None:
        answer["NextToken"] = next_token.encode(found.next, digest)
    if found.last_key is not None:
        answer["LastEvaluatedKey"] = found.last_key
    return {**answer, **report_consumed(request, source.table, found.consumed)}


def check_order(select: Select, source: Source, use: KeyUse) -> None:
    if not select.order:
        return
    if not use.partition_values:
        raise ValidationException(ORDER_WITHOUT_PARTITION)
    for key in select.order:
        if key.name not in source.key_names:
            raise ValidationException(ORDER_BY_OTHER.format(key.name))


def _item(snapshot: Snapshot, source: Source, select: Select, values: Values, *, consistent: bool) -> Found | None:
    """One item by its primary key; None if that is not what the statement asks for."""
    read = item_read(source.table, select, values)
    if read is None:
        return None
    base_key = read.locate(source.table)
    item = source.table.get(snapshot, base_key)
    shown = read.shown(item)
    units = Consumed(read.units(item, consistent=consistent))
    return Found([] if shown is None else [shown], units, base_key=base_key, key=read.key)


def reading_of(request: Request, source: Source, select: Select, use: KeyUse, values: Values) -> Reading:
    """What to look for, in whichever range. Only a query refuses to filter by what its index does not show."""
    if use.partition_values and use.condition is not None:
        check_filter_names(source, use.condition.top_level_names)
    names = None if select.projection is None else Projection.of_names(select.projection.top_level_names)
    shown = select_shown(Request({}, request.scope), source, names)
    return Reading(
        source=source,
        range=source.whole(),
        reverse=any(key.descending for key in select.order if source.sort and key.name == source.sort[0][0]),
        limit=request.get("Limit"),
        consistent=request.get("ConsistentRead", False),
        filter=None if use.condition is None else use.condition.with_values(values),
        projection=select.projection,
        fetching=shown.fetching,
    )


def ranges_of(source: Source, select: Select, use: KeyUse, values: Values) -> list[Range]:
    """The ranges of stored keys to read, one after the other."""
    if not use.partition_values:
        return [source.whole()]
    partition, kind = source.partition[0]
    key_ranges: dict[str, KeyRange] = {}  # a partition that is named twice is read once
    for operand in use.partition_values:
        clauses = [KeyClause(partition, "=", (operand,))]
        key_range = _key_range(source, clauses if use.sort is None else [*clauses, use.sort], values)
        key_ranges.setdefault(key_range.partition_values[0][kind], key_range)
    contents = list(key_ranges)
    if select.order:
        descending = any(key.descending for key in select.order if key.name == partition)
        contents.sort(key=lambda content: key_bytes(kind, content), reverse=descending)
    return [stored_range(source, key_ranges[content]) for content in contents]


def _key_range(source: Source, clauses: Sequence[KeyClause], values: Values) -> KeyRange:
    return KeyCondition.of_clauses(clauses).resolve(
        hash_names=source.partition_names,
        range_names=source.sort_names,
        types=source.table.definition.attribute_types,
        values=values,
    )


class Tour:
    """The way of one request through its ranges: from a position until the limit, a megabyte or enough partitions."""

    def __init__(self, reading: Reading, ranges: Sequence[Range], start: Position) -> None:
        self.reading = reading
        self.found = Found(orjson.Fragment(b"[]"), Consumed(), evaluated=0, returned=0)
        self._ranges = ranges
        self._last_number = min(start.range_number + PARTIQL_PARTITION_VALUES_PAGE, len(ranges))
        self._shown: list[bytes] = []
        self._limit = reading.limit
        self._enter(start)

    @property
    def held_bytes(self) -> int:
        return self._walk.held_bytes + sum(map(len, self._shown))

    def begin(self, snapshot: Snapshot) -> bool:
        """Read as much as does not take long; whether that was all."""
        complete = self.go_on(snapshot)
        while not complete and self.found.evaluated + self._walk.scanned < PART_ITEMS:
            complete = self.go_on(snapshot)
        return complete

    def go_on(self, snapshot: Snapshot) -> bool:
        """Read a range, or a part of one; whether that was the last."""
        if not go_on(snapshot, self._narrowed, self._walk):
            return False
        self._leave(page_of(self._narrowed, self._walk))
        if self.found.next is None and self._number + 1 < self._last_number:
            self._enter(Position(self._number + 1))
            return False
        self.found.items = orjson.Fragment(b"[" + b",".join(self._shown) + b"]")
        return True

    def _enter(self, position: Position) -> None:
        self._number = position.range_number
        self._narrowed = _narrowed(self.reading, self._ranges[self._number], position.last_key, self._limit)
        self._walk = Walk()

    def _leave(self, page: Page) -> None:
        """Take a range's page into what was found, and see whether the next request has to go on from here."""
        found, number = self.found, self._number
        found.include(page)
        if page.count:
            self._shown.append(orjson.dumps(page.items)[1:-1])
        if page.last_key is not None:
            found.last_key = page.last_key
            found.next = Position(number, page.last_key)
            return
        self._limit = None if self._limit is None else self._limit - page.scanned_count
        if number + 1 < len(self._ranges) and (number + 1 == self._last_number or _is_full(found, self.reading)):
            found.next = Position(number + 1)


def _narrowed(reading: Reading, range: Range, last_key: Attributes | None, limit: int | None) -> Reading:
    """The reading of one range, after the last key that was evaluated in it."""
    start, end = range
    if last_key is not None:
        position = reading.source.position(last_key)
        start, end = (start, min(end, position)) if reading.reverse else (max(start, position + b"\0"), end)
    return Reading(
        source=reading.source,
        range=(start, end),
        reverse=reading.reverse,
        limit=limit,
        consistent=reading.consistent,
        filter=reading.filter,
        projection=reading.projection,
        fetching=reading.fetching,
    )


def _is_full(found: Found, reading: Reading) -> bool:
    """Whether about a megabyte was evaluated."""
    units = found.consumed.total if reading.consistent else 2 * found.consumed.total
    return units * READ_UNIT_BYTES >= PAGE_BYTES_MAX
