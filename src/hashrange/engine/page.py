"""One page of a Query or Scan: read in key order until a limit is reached, in parts if it takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from hashrange.engine.source import Range, Source
from hashrange.engine.units import Consumed, read_units
from hashrange.limits import PAGE_BYTES_MAX
from hashrange.storage.interface import Snapshot
from hashrange.values.item import HEADER_BYTES, SIZE_AT, Item, size_from, stored_size
from hashrange.values.types import Attributes

# A page is read in parts, so that nobody has to wait for a whole one. Whole items are only passed on.
PART_ITEMS = 64
PART_BYTES = 128 * 1024
PLAIN_PART_ITEMS = 1024
AT_ONCE_FIRST = 16
AT_ONCE_ITEMS_MAX = 64
AT_ONCE_BYTES = 128 * 1024
OBJECT_BYTES = 41  # what a bytes object in a list takes beside its content

Filter = Callable[[Attributes], bool]
Projection = Callable[[Attributes], Attributes]


class Reading(NamedTuple):
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
    rest = reading.range if walk.position is None else _after(reading, walk.position)
    if reading.filter is None and reading.projection is None and not reading.fetching:
        return _walk_plain(snapshot, reading, rest, walk)
    return _walk(snapshot, reading, rest, walk)


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


def _walk_plain(snapshot: Snapshot, reading: Reading, rest: Range, walk: Walk) -> bool:
    """A part of a page of whole items, which are passed on without looking inside."""
    shown = walk.shown
    stop = _stop(len(shown) + PLAIN_PART_ITEMS, reading.limit)
    while len(shown) < stop:
        count = min(stop - len(shown), _at_once(walk))
        stored, key = snapshot.first_values(*rest, count, reverse=reading.reverse)
        shown += [item[HEADER_BYTES:] for item in stored]
        walk.size_bytes += sum([size_from(item, SIZE_AT)[0] for item in stored])
        walk.scanned = len(shown)
        if walk.size_bytes >= PAGE_BYTES_MAX:
            goes_on = _cut(walk, stored) or snapshot.first_values(*_after(reading, key), 1, reverse=reading.reverse)[0]
            walk.last = stored[-1] if goes_on or len(shown) == reading.limit else None
            return True
        if len(stored) < count:
            return True  # there was nothing more
        walk.position = key
        rest = _after(reading, key)
    if stop == reading.limit:
        walk.last = stored[-1]
    return stop == reading.limit


def _at_once(walk: Walk) -> int:
    """How many items to take at once: few at first, and then as many as will not be large, by those seen so far."""
    if not walk.scanned:
        return AT_ONCE_FIRST
    return max(1, min(AT_ONCE_ITEMS_MAX, AT_ONCE_BYTES * walk.scanned // walk.size_bytes))


def _cut(walk: Walk, stored: list[bytes]) -> bool:
    """Take back the items after the one that made the page full; whether there were any."""
    count = len(stored)
    while walk.size_bytes - stored_size(stored[-1]) >= PAGE_BYTES_MAX:
        walk.size_bytes -= stored_size(stored.pop())
        walk.shown.pop()
    walk.scanned = len(walk.shown)
    return len(stored) < count


def _after(reading: Reading, position: bytes) -> Range:
    """What is left of the range after an entry."""
    start, end = reading.range
    return (start, position) if reading.reverse else (position + b"\0", end)


def _walk(snapshot: Snapshot, reading: Reading, rest: Range, walk: Walk) -> bool:
    """A part of a page of items that are filtered, cut down, or completed from the table.

    An item that was fetched counts whole towards the megabyte; its entry in the index may be a few bytes only.
    """
    stop = _stop(walk.scanned + PART_ITEMS, reading.limit)
    stop_bytes = min(walk.page_bytes + PART_BYTES, PAGE_BYTES_MAX)
    entries = snapshot.scan(*rest, reverse=reading.reverse)
    for key, stored in entries:
        size_bytes = stored_size(stored)
        walk.scanned += 1
        walk.size_bytes += size_bytes
        fetched_bytes = _show(snapshot, reading, stored[HEADER_BYTES:], walk.shown)
        if fetched_bytes:
            walk.fetched_units += read_units(fetched_bytes, consistent=reading.consistent)
        walk.page_bytes += fetched_bytes or size_bytes
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


def _show(snapshot: Snapshot, reading: Reading, json: bytes, shown: list[bytes]) -> int:
    """Add an evaluated item to those shown, if the filter lets it through; the bytes that were fetched for it."""
    attributes: Attributes = orjson.loads(json)
    if reading.filter is not None and not reading.filter(attributes):
        return 0
    fetched_bytes = 0
    if reading.fetching:
        table = reading.source.table
        whole = table.get(snapshot, table.key.pack(attributes))
        assert whole is not None, "an index entry has its item"
        fetched_bytes = whole.size_bytes
        json, attributes = whole.json, whole.attributes
    shown.append(json if reading.projection is None else orjson.dumps(reading.projection(attributes)))
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
