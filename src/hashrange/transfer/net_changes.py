"""What became of every item that was changed in a window of time, for an incremental export.

Only the net effect counts: the item before its first change in the window, and after its last. The log is walked in
short snapshots (the window is over, so nothing is added to it), remembering for each item where its first and its last
change are. If there are more items than may be held in memory, those with the largest keys are put off to another walk.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import orjson

from hashrange.engine import keyspace
from hashrange.engine.change_log import INSERT, REMOVE, LogRecord
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.engine.keys import PrimaryKey
from hashrange.storage.interface import Snapshot

RECORDS_PER_SNAPSHOT = 10_000
KEYS_PER_SNAPSHOT = 100
KEYS_MAX = 500_000


class NetChange(NamedTuple):
    """An item before and after, as JSON; None for none."""

    keys: bytes
    old: bytes | None
    new: bytes | None
    written_at_micros: int
    size_bytes: int


class ChangesPage(NamedTuple):
    """Some of what is exported, and the base key where the rest begins; None if there is no more."""

    changes: list[NetChange]
    following: bytes | None


class Span(NamedTuple):
    """Where an item's first and last change in the window are."""

    slice: int
    first: int
    last: int


class NetChanges:
    """The net effect of the changes from one log position, included, to another, excluded."""

    def __init__(self, table: TableDefinition, start: int, end: int, *, keys_max: int = KEYS_MAX) -> None:
        self._table = table
        self._key = PrimaryKey(table.key, table.attribute_types)
        self._start = start
        self._end = end
        self._keys_max = keys_max
        self._from: bytes | None = None  # the keys that are held: from here on
        self._until: bytes | None = None  # and before this one
        self._spans: dict[bytes, Span] = {}
        self._order: list[bytes] = []

    def page(self, db: Database, start: bytes, size_bytes_max: int) -> ChangesPage:
        """The changes of the items from a base key on, until they have so many bytes."""
        if self._from is None or start < self._from or (self._until is not None and start >= self._until):
            self._collect(db, start)
        changes: list[NetChange] = []
        first = bisect_left(self._order, start)
        while first < len(self._order):
            if size_bytes_max <= 0:
                return ChangesPage(changes, self._order[first])
            with db.read() as snapshot:
                some = [
                    self._change(snapshot, self._spans[key]) for key in self._order[first : first + KEYS_PER_SNAPSHOT]
                ]
            changes += some
            first += len(some)
            size_bytes_max -= sum(len(each.keys) + len(each.old or b"") + len(each.new or b"") for each in some)
        return ChangesPage(changes, self._until)

    def _collect(self, db: Database, start: bytes) -> None:
        self._from, self._until, self._spans = start, None, {}
        for slice_number in range(self._table.log_slices):
            position: int | None = self._start
            while position is not None:
                with db.read() as snapshot:
                    position = self._walk(snapshot, slice_number, position)
        self._order = sorted(self._spans)

    def _walk(self, snapshot: Snapshot, slice_number: int, position: int) -> int | None:
        """Look at the next changes of a slice; the position behind them, or None at the end of the window."""
        first = keyspace.log_key(self._table.id, slice_number, position)
        last = keyspace.log_key(self._table.id, slice_number, self._end)
        seen = 0
        for key, stored in snapshot.scan(first, last, limit=RECORDS_PER_SNAPSHOT):
            record = LogRecord.load(key, stored)
            self._note(self._key.pack(orjson.loads(record.keys)), slice_number, record.sequence)
            seen += 1
            position = record.sequence + 1
        return position if seen == RECORDS_PER_SNAPSHOT else None

    def _note(self, base_key: bytes, slice_number: int, sequence: int) -> None:
        assert self._from is not None
        if base_key < self._from or (self._until is not None and base_key >= self._until):
            return
        known = self._spans.get(base_key)
        self._spans[base_key] = Span(slice_number, sequence if known is None else known.first, sequence)
        if len(self._spans) > self._keys_max:
            kept = sorted(self._spans)[: self._keys_max // 2 + 1]
            self._until = kept.pop()
            self._spans = {each: self._spans[each] for each in kept}

    def _change(self, snapshot: Snapshot, span: Span) -> NetChange:
        first = self._record(snapshot, span.slice, span.first)
        last = self._record(snapshot, span.slice, span.last)
        old = None if first.event == INSERT else first.old
        new = None if last.event == REMOVE else last.new
        size_bytes = last.keys_size + (first.old_size if old else 0) + (last.new_size if new else 0)
        return NetChange(last.keys, old, new, last.written_at_micros, size_bytes)

    def _record(self, snapshot: Snapshot, slice_number: int, sequence: int) -> LogRecord:
        key = keyspace.log_key(self._table.id, slice_number, sequence)
        stored = snapshot.get(key)
        assert stored is not None, "the log of an export is not trimmed"
        return LogRecord.load(key, stored)
