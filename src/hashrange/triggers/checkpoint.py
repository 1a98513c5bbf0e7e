"""How far a trigger has come in one slice of the log, and what it is in the middle of. Kept in the store.

Everything that must survive a crash is here: the next position, how often the batch at it has failed, when it may be
tried again, and into which pieces it was halved. So a function sees every change at least once, in order, and no
restart gives a bad record more attempts than it was allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from zlib import crc32

import orjson

from hashrange.engine import keyspace
from hashrange.storage.interface import Snapshot
from hashrange.triggers.trigger import Trigger


@dataclass(frozen=True, slots=True)
class Lane:
    """One of the batches that may be under way at a time. It has the changes of the items whose keys fall to it."""

    position: int  # everything before it is done
    attempts: int = 0  # calls with the batch at the position that failed
    misses: int = 0  # times in a row that the function failed or could not be called; each waits longer
    due_at_micros: int = 0  # nothing is tried before
    ends: tuple[int, ...] = ()  # where the batch ends, and the pieces it was halved into, the nearest last

    def moved_to(self, position: int) -> Lane:
        """The lane when everything before a position is done."""
        return Lane(position, ends=tuple(end for end in self.ends if end > position))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The lanes of one slice."""

    lanes: tuple[Lane, ...]

    def with_lane(self, number: int, lane: Lane) -> Checkpoint:
        return Checkpoint((*self.lanes[:number], lane, *self.lanes[number + 1 :]))

    def dump(self) -> bytes:
        return orjson.dumps(asdict(self))

    @classmethod
    def load(cls, stored: bytes) -> Checkpoint:
        lanes = orjson.loads(stored)["lanes"]
        return cls(tuple(Lane(**{**lane, "ends": tuple(lane["ends"])}) for lane in lanes))


def checkpoint_of(snapshot: Snapshot, trigger: Trigger, slice_number: int) -> Checkpoint:
    """The checkpoint in the store, or that of a trigger which has not begun."""
    stored = snapshot.get(keyspace.checkpoint_key(trigger.uuid, slice_number))
    if stored is None:
        return Checkpoint((Lane(trigger.start),) * trigger.lanes)
    return Checkpoint.load(stored)


def divided(positions: Sequence[int], lanes: int) -> Checkpoint:
    """A slice divided among another number of lanes: all start where the slowest one was."""
    return Checkpoint((Lane(min(positions)),) * lanes)


def lane_of(keys: bytes, lanes: int) -> int:
    """Which lane has an item's changes: always the same one, so that they stay in order."""
    return crc32(keys) % lanes


def postponed(lane: Lane, now_micros: int) -> Lane:
    """The lane after one more time in which nothing could be done."""
    misses = lane.misses + 1
    return replace(lane, misses=misses, due_at_micros=now_micros + backoff_micros(misses))


BACKOFF_SECONDS_MAX = 60


def backoff_micros(misses: int) -> int:
    """One second after the first time, then twice as long each time, up to a minute."""
    return 1_000_000 * min(BACKOFF_SECONDS_MAX, 1 << min(misses - 1, 16))
