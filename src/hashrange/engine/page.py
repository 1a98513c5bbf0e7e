"""One page of a Query or Scan: read in one snapshot, in key order, until a limit is reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from hashrange.engine.source import Range, Source
from hashrange.engine.units import Consumed, read_units
from hashrange.limits import PAGE_BYTES_MAX
from hashrange.storage.interface import Snapshot
from hashrange.values.item import Item
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
    shown: list[bytes] = []
    scanned = size_bytes = 0
    fetched_units = 0.0
    last: Item | None = None
    limit = reading.limit
    plain = reading.filter is None and reading.projection is None and not reading.fetching
    for _, stored in entries:
        item = Item.load(stored)
        scanned += 1
        size_bytes += item.size_bytes
        if plain:
            shown.append(item.json)
        else:
            fetched_units += _show(snapshot, reading, item, shown)
        if scanned == limit:
            last = item
            break
        if size_bytes >= PAGE_BYTES_MAX:
            last = item if next(entries, None) is not None else None
            break
    return Page(
        items=orjson.Fragment(b"[" + b",".join(shown) + b"]"),
        count=len(shown),
        scanned_count=scanned,
        last_key=None if last is None else reading.source.position_of(last.attributes),
        consumed=_consumed(reading, size_bytes, fetched_units),
    )


def _show(snapshot: Snapshot, reading: Reading, item: Item, shown: list[bytes]) -> float:
    """Add an evaluated item to those shown, if the filter lets it through; the units of fetching the rest of it."""
    if reading.filter is not None and not reading.filter(item.attributes):
        return 0.0
    units = 0.0
    if reading.fetching:
        table = reading.source.table
        whole = table.get(snapshot, table.key.pack(item.attributes))
        assert whole is not None, "an index entry has its item"
        units = read_units(whole.size_bytes, consistent=reading.consistent)
        item = whole
    if reading.projection is None:
        shown.append(item.json)
    else:
        shown.append(orjson.dumps(reading.projection(item.attributes)))
    return units


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
