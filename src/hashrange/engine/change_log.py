"""One log of item changes, written in the writer's own transaction.

Everything that looks back (DynamoDB Streams, point-in-time recovery, incremental exports, item history) reads this
log. A record is appended only where some reader of its table needs it, and carries the images that they need.

Sequence numbers only grow, whatever the clock does: each is the time in microseconds with twelve bits to spare, or
one more than the last, whichever is larger. So a moment in time is a position in the log.

    log record = version (1) · event (1) · origin (1) · written_at_micros (8)
                 · item bytes of keys, old and new image (4 each) · JSON length of keys and old image (4 each)
                 · keys JSON · old image JSON · new image JSON
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct

import orjson

from hashrange.clock import Clock
from hashrange.engine import keyspace
from hashrange.engine.table import SERVICE, USER, Changes, ItemChange, Table
from hashrange.storage.interface import Snapshot
from hashrange.values.item import Item
from hashrange.values.size import size_of_attributes

FORMAT_VERSION = 1
SPARE_BITS = 12

INSERT, MODIFY, REMOVE = "INSERT", "MODIFY", "REMOVE"
EVENTS = (INSERT, MODIFY, REMOVE)
ORIGINS = (USER, SERVICE)

NO_IMAGE = b""
ABSENT_SIZE = 0

_HEADER = Struct("<BBBQIIIII")
_sequence = Struct(">Q")


def position_at(micros: int) -> int:
    """The first sequence number that a change at that time or later can have."""
    return micros << SPARE_BITS


def time_of(sequence: int) -> int:
    """The time, in microseconds, that a sequence number stands for."""
    return sequence >> SPARE_BITS


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One change of one item. Images that no reader needed are None."""

    sequence: int
    event: str
    origin: str
    written_at_micros: int
    keys: bytes
    keys_size: int
    old: bytes | None
    old_size: int
    new: bytes | None
    new_size: int

    @classmethod
    def load(cls, key: bytes, stored: bytes) -> LogRecord:
        version, event, origin, micros, keys_size, old_size, new_size, keys_length, old_length = _HEADER.unpack_from(
            stored
        )
        assert version == FORMAT_VERSION, f"log format {version} is unknown"
        old_at = _HEADER.size + keys_length
        new_at = old_at + old_length
        return cls(
            sequence=_sequence.unpack(key[-_sequence.size :])[0],
            event=EVENTS[event],
            origin=ORIGINS[origin],
            written_at_micros=micros,
            keys=stored[_HEADER.size : old_at],
            keys_size=keys_size,
            old=stored[old_at:new_at] or None,
            old_size=old_size,
            new=stored[new_at:] or None,
            new_size=new_size,
        )


def dump(change: ItemChange, now_micros: int, *, keeps_old: bool, keeps_new: bool) -> bytes:
    """The record of a change, with the images that are kept."""
    old, new = change.old, change.new
    seen = new or old
    assert seen is not None
    keys = change.table.key.take(seen.attributes)
    keys_json = orjson.dumps(keys)
    old_json = old.json if old is not None and keeps_old else NO_IMAGE
    new_json = new.json if new is not None and keeps_new else NO_IMAGE
    header = _HEADER.pack(
        FORMAT_VERSION,
        EVENTS.index(event_of(old, new)),
        ORIGINS.index(change.origin),
        now_micros,
        size_of_attributes(keys),
        old.size_bytes if old is not None and keeps_old else ABSENT_SIZE,
        new.size_bytes if new is not None and keeps_new else ABSENT_SIZE,
        len(keys_json),
        len(old_json),
    )
    return b"".join((header, keys_json, old_json, new_json))


def event_of(old: Item | None, new: Item | None) -> str:
    if old is None:
        return INSERT
    return REMOVE if new is None else MODIFY


class ChangeLog:
    """Appends the changes of a table whose definition says that somebody reads them."""

    __slots__ = ("_clock", "_keeps_new", "_keeps_old", "_slices", "_table_id")

    def __init__(self, table: Table, clock: Clock) -> None:
        definition = table.definition
        self._clock = clock
        self._table_id = definition.id
        self._slices = definition.log_slices
        self._keeps_old = definition.keeps_old_images
        self._keeps_new = definition.keeps_new_images

    def maintain(self, snapshot: Snapshot, change: ItemChange, changes: Changes) -> None:
        old, new = change.old, change.new
        if old is not None and new is not None and old.attributes == new.attributes:
            return  # written in another order, but the same item
        now = self._clock.micros()
        sequence = next_sequence(snapshot, changes, now)
        key = keyspace.log_key(self._table_id, slice_of(change.base_key, self._slices), sequence)
        record = dump(change, now, keeps_old=self._keeps_old, keeps_new=self._keeps_new)
        changes.mutations.append((key, record))


def slice_of(base_key: bytes, slices: int) -> int:
    """Which part of the log an item's changes go to: always the same one, so that they stay in order."""
    return base_key[0] * slices >> 8


def next_sequence(snapshot: Snapshot, changes: Changes, now_micros: int) -> int:
    """A sequence number larger than any before, in this plan and in all others."""
    last = changes.last_sequence or last_sequence(snapshot)
    changes.last_sequence = sequence = max(last + 1, position_at(now_micros))
    changes.mutations.append((keyspace.LAST_SEQUENCE, _sequence.pack(sequence)))
    return sequence


def last_sequence(snapshot: Snapshot) -> int:
    stored = snapshot.get(keyspace.LAST_SEQUENCE)
    last: int = 0 if stored is None else _sequence.unpack(stored)[0]
    return last
