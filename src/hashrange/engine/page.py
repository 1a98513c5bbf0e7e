"""One page of a Query or Scan: read in key order until a limit is reached, in parts if it takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import orjson

from hashrange.engine.source import Range, Source
from hashrange.engine.units import Consumed, read_units
from hashrange.limits import PAGE_BYTES_MAX
from hashrange.storage.interface import Snapshot
from hashrange.values.item import HEADER_BYTES, SIZE_AT, Item, size_from
from hashrange.values.types import Attributes

# A page is read in parts, so that nobody has to wait for a whole one. Whole items are only passed on.
PART_ITEMS = 64
PART_BYTES = 128 * 1024
PLAIN_PART_ITEMS = 1024
OBJECT_BYTES = 41  # what a bytes object in a list takes beside its content

Filter = Callable[[Attributes], bool]
Projection = Callable[[Attributes], Attributes]


@dataclass(frozen=True, slots=True)
class Reading:
    """What to read, and what to show of it."""

    source: Source
    range: Range
    reverse: bool = False
    limit: int | None = None
    consistent: bool = False
    filter: Filter | None = None
    projection: Projection | None = None
    counting: bool = False
    partition: Attributes | None = None  # the key of the one partition that the range is in, if it is
    fetching: bool = False  # whether whole items are fetched from the table, for what a local index lacks


@dataclass(slots=True)
class Page:
    """What was found. `items` is JSON ready to be spliced into an answer."""

    items: orjson.Fragment
    count: int
    scanned_count: int
    last_key: Attributes | None
    consumed: Consumed


@dataclass(slots=True)
class Walk:
    """How far a page got: what it shows, what it evaluated, and, once it is complete, the stored item it stopped at."""

    shown: list[bytes] = field(default_factory=list)
    scanned: int = 0
    size_bytes: int = 0
    fetched_units: float = 0.0
    page_bytes: int = 0  # what counts towards the megabyte
    position: bytes | None = None  # the key of the last entry that was evaluated, while there is more to do
    last: bytes | None = None

    @property
    def held_bytes(self) -> int:
        """What it has to show, in memory."""
        return sum(map(len, self.shown)) + OBJECT_BYTES * len(self.shown)


def go_on(snapshot: Snapshot, reading: Reading, walk: Walk) -> bool:
    """Evaluate a part of a page; whether it is complete.

    A part takes about a millisecond. The next one may be read from a newer snapshot: a page has never promised to be
    a picture of one moment, only that each item is whole and as new as the request.
    """
    start, end = reading.range
    if walk.position is not None:
        start, end = (start, walk.position) if reading.reverse else (walk.position + b"\0", end)
    entries = snapshot.scan(start, end, reverse=reading.reverse)
    if reading.filter is None and reading.projection is None and not reading.fetching:
        return _walk_plain(entries, reading.limit, walk)
    return _walk(snapshot, reading, entries, walk)


def page_of(reading: Reading, walk: Walk) -> Page:
    """The page at the end of its walk."""
    last = walk.last
    return Page(
        items=orjson.Fragment(b"[" + b",".join(walk.shown) + b"]"),
        count=len(walk.shown),
        scanned_count=walk.scanned,
        last_key=None if last is None else reading.source.position_of(Item.load(last).attributes),
        consumed=_consumed(reading, walk.size_bytes, walk.fetched_units),
    )


Entries = Iterator[tuple[bytes, bytes]]


def _walk_plain(entries: Entries, limit: int | None, walk: Walk) -> bool:
    """A part of a page of whole items, which are passed on without looking inside."""
    shown = walk.shown
    size_bytes = walk.size_bytes
    stop = _stop(len(shown) + PLAIN_PART_ITEMS, limit)
    key = stored = b""
    for key, stored in islice(entries, stop - len(shown)):  # noqa: B007 - the last ones are looked at below
        shown.append(stored[HEADER_BYTES:])
        size_bytes += size_from(stored, SIZE_AT)[0]
        if size_bytes >= PAGE_BYTES_MAX:
            break
    walk.scanned = len(shown)
    walk.size_bytes = size_bytes
    if len(shown) < stop and size_bytes < PAGE_BYTES_MAX:
        return True  # there was nothing more
    walk.position = key
    return _is_complete(walk, entries, stored, at_limit=len(shown) == limit, page_bytes=size_bytes)


def _walk(snapshot: Snapshot, reading: Reading, entries: Entries, walk: Walk) -> bool:
    """A part of a page of items that are filtered, cut down, or completed from the table.

    An item that was fetched counts whole towards the megabyte; its entry in the index may be a few bytes only.
    """
    stop = _stop(walk.scanned + PART_ITEMS, reading.limit)
    stop_bytes = min(walk.page_bytes + PART_BYTES, PAGE_BYTES_MAX)
    for key, stored in entries:
        item = Item.load(stored)
        walk.scanned += 1
        walk.size_bytes += item.size_bytes
        fetched_bytes = _show(snapshot, reading, item, walk.shown)
        if fetched_bytes:
            walk.fetched_units += read_units(fetched_bytes, consistent=reading.consistent)
        walk.page_bytes += fetched_bytes or item.size_bytes
        if walk.scanned == stop or walk.page_bytes >= stop_bytes:
            walk.position = key
            at_limit = walk.scanned == reading.limit
            return _is_complete(walk, entries, stored, at_limit=at_limit, page_bytes=walk.page_bytes)
    return True


def _is_complete(walk: Walk, entries: Entries, stored: bytes, *, at_limit: bool, page_bytes: int) -> bool:
    """Whether a page ends with this item, and not only a part of it."""
    if at_limit:
        walk.last = stored
    elif page_bytes >= PAGE_BYTES_MAX:
        walk.last = stored if next(entries, None) is not None else None
    else:
        return False
    return True


def _stop(part: int, limit: int | None) -> int:
    return part if limit is None or part < limit else limit


def _show(snapshot: Snapshot, reading: Reading, item: Item, shown: list[bytes]) -> int:
    """Add an evaluated item to those shown, if the filter lets it through; the bytes that were fetched for it."""
    if reading.filter is not None and not reading.filter(item.attributes):
        return 0
    fetched_bytes = 0
    if reading.fetching:
        table = reading.source.table
        whole = table.get(snapshot, table.key.pack(item.attributes))
        assert whole is not None, "an index entry has its item"
        fetched_bytes = whole.size_bytes
        item = whole
    if reading.projection is None:
        shown.append(item.json)
    else:
        shown.append(orjson.dumps(reading.projection(item.attributes)))
    return fetched_bytes


def _consumed(reading: Reading, size_bytes: int, fetched_units: float) -> Consumed:
    units = read_units(size_bytes, consistent=reading.consistent)
    index = reading.source.index
    if index is None:
        return Consumed(table=units)
    if index.is_global:
        return Consumed(global_indexes={index.name: units})
    return Consumed(table=fetched_units, local_indexes={index.name: units})


def answer(page: Page, *, counting: bool) -> dict[str, Any]:
    """The members that Query and Scan have in common."""
    members: dict[str, Any] = {} if counting else {"Items": page.items}
    members["Count"] = page.count
    members["ScannedCount"] = page.scanned_count
    if page.last_key is not None:
        members["LastEvaluatedKey"] = page.last_key
    return members
