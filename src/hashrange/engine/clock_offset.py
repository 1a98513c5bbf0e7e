"""How far the database's clock was moved from the machine's (`hashrange serve --dev-clock`).

The offset is kept in the store, so that all workers, later servers and the tools beside them agree on what time it is.
Time goes on from wherever it was moved to.
"""

from __future__ import annotations

from datetime import UTC, datetime
from struct import Struct

from hashrange.clock import Clock, OffsetClock, SystemClock
from hashrange.engine import keyspace
from hashrange.storage.interface import Plan, Planner, Snapshot

MICROS = 1_000_000
LATEST_MICROS = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp()) * MICROS  # sequence numbers end in 2112

_offset = Struct("<q")


class OutOfTime(Exception):
    """A time that the clock cannot be moved to."""

    def __init__(self) -> None:
        super().__init__("The clock can be moved to any time from 1970 to 2099.")


def clock_offset(snapshot: Snapshot) -> int:
    """How many microseconds the database's clock is ahead of the machine's."""
    stored = snapshot.get(keyspace.CLOCK_OFFSET)
    offset: int = 0 if stored is None else _offset.unpack(stored)[0]
    return offset


def database_clock(snapshot: Snapshot) -> Clock:
    """The database's own clock as it stands, for tools that look in from outside."""
    return OffsetClock(SystemClock(), clock_offset(snapshot))


def advance(clock: OffsetClock, micros: int) -> Planner:
    """Move the clock by so much from wherever it is."""
    return lambda snapshot: _move(clock, clock_offset(snapshot) + micros)


def move_to(clock: OffsetClock, at_micros: int) -> Planner:
    """Set the clock to a time."""
    return lambda snapshot: _move(clock, at_micros - clock.unmoved_micros())


def reset(snapshot: Snapshot) -> Plan:
    """Back to the machine's own time."""
    return Plan([(keyspace.CLOCK_OFFSET, None)])


def _move(clock: OffsetClock, offset_micros: int) -> Plan:
    if not 0 <= clock.unmoved_micros() + offset_micros < LATEST_MICROS:
        raise OutOfTime
    return Plan([(keyspace.CLOCK_OFFSET, _offset.pack(offset_micros))])


def is_behind_log(snapshot: Snapshot, clock: Clock) -> bool:
    """Whether the clock was moved back behind logged changes. Time travel has its price: until that time comes again,
    streams do not show new changes, and what was then cannot be told apart from what is now."""
    from hashrange.engine.change_log import last_sequence, time_of  # servers whose time is not moved start without it

    return time_of(last_sequence(snapshot)) > clock.micros() + MICROS
