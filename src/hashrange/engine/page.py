"""One page of a Query or Scan: read in one snapshot, in key order, until a limit is reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from hashrange.engine.source import Range, Source
from hashrange.engine.units import Consumed, read_units
from hashrange.limits import PAGE_BYTES_MAX
from hashrange.storage.interface import Snapshot
from hashrange.values.item import HEADER_BYTES, Item, stored_size
from hashrange.values.types import Attributes

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


def read_page(snapshot: Snapshot, reading: Reading) -> Page:
    """Evaluate entries until the limit or a megabyte, then tell where to go on."""
    entries = snapshot.scan(*reading.range, reverse=reading.reverse)
    if reading.filter is None and reading.projection is None and not reading.fetching:
        walk = _walk_plain(entries, reading.limit)
    else:
        walk = _walk(snapshot, reading, entries)
    last = walk.last
    return Page(
        items=orjson.Fragment(b"[" + b",".join(walk.shown) + b"]"),
        count=len(walk.shown),
        scanned_count=walk.scanned,
        last_key=None if last is None else reading.source.position_of(Item.load(last).attributes),
        consumed=_consumed(reading, walk.size_bytes, walk.fetched_units),
    )


@dataclass(slots=True)
class Walk:
    """How far a page got: what it shows, what it evaluated, and the stored item it stopped at."""

    shown: list[bytes]
    scanned: int
    size_bytes: int
    last: bytes | None
    fetched_units: float = 0.0


Entries = Iterator[tuple[bytes, bytes]]


def _walk_plain(entries: Entries, limit: int | None) -> Walk:
    """A page of whole items, which are passed on without looking inside."""
    shown: list[bytes] = []
    size_bytes = 0
    last: bytes | None = None
    for _, stored in entries:
        shown.append(stored[HEADER_BYTES:])
        size_bytes += stored_size(stored)
        if len(shown) == limit:
            last = stored
            break
        if size_bytes >= PAGE_BYTES_MAX:
            last = stored if next(entries, None) is not None else None
            break
    return Walk(shown, len(shown), size_bytes, last)


def _walk(snapshot: Snapshot, reading: Reading, entries: Entries) -> Walk:
    """A page of items that are filtered, cut down, or completed from the table.

    An item that was fetched counts whole towards the megabyte; its entry in the index may be a few bytes only.
    """
    walk = Walk([], 0, 0, None)
    page_bytes = 0
    for _, stored in entries:
        item = Item.load(stored)
        walk.scanned += 1
        walk.size_bytes += item.size_bytes
        fetched_bytes = _show(snapshot, reading, item, walk.shown)
        if fetched_bytes:
            walk.fetched_units += read_units(fetched_bytes, consistent=reading.consistent)
        page_bytes += fetched_bytes or item.size_bytes
        if walk.scanned == reading.limit:
            walk.last = stored
            break
        if page_bytes >= PAGE_BYTES_MAX:
            walk.last = stored if next(entries, None) is not None else None
            break
    return walk


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
