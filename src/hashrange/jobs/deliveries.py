"""Everything that carries changes out of the database: triggers and Kinesis destinations, as lanes that work alike.

A lane has one piece of work at a time. Unlike the steps of jobs these may take minutes, because somebody else's
function or server does the work, so lanes do not wait for each other; see `delivery_runner`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from hashrange.engine.change_log import last_sequence
from hashrange.engine.database import Database
from hashrange.kinesis import delivery as kinesis
from hashrange.storage.interface import Planner, write_and_wait
from hashrange.triggers import delivery as triggers
from hashrange.triggers.call import Functions

Wait = int


class Delivery(Protocol):
    """Work that waits for others. `send` touches no store, and returns the plan that keeps what came of it."""

    def send(self) -> Planner: ...


Work = Delivery | Planner | Wait
"""What a lane has to do: something to send, something to keep, or nothing before some time unless a change comes."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One line of work. Lanes of one group but of different divisions share their changes and never work together."""

    group: Hashable
    number: int
    division: int  # how many lanes the group has
    state: Hashable  # a lane that had nothing to do looks again when this has changed
    prepare: Callable[[], Work]

    @property
    def key(self) -> Hashable:
        return self.group, self.number


def lanes(db: Database, functions: Functions) -> tuple[list[Lane], int]:
    """Every lane there is, and the last sequence number that they could have seen."""
    with db.read() as snapshot:
        found = [
            Lane(
                group=(place.trigger.uuid, place.slice),
                number=place.lane,
                division=place.trigger.lanes,
                state=place.trigger,
                prepare=partial(triggers.prepare, db, functions, place),
            )
            for place in triggers.places(snapshot)
        ]
        found += [
            Lane(
                group=(place.table.table_id, place.slice),
                number=0,
                division=1,
                state=place.destination,
                prepare=partial(kinesis.prepare, db, place),
            )
            for place in kinesis.places(snapshot)
        ]
        return found, last_sequence(snapshot)


def deliver_all(db: Database, functions: Functions) -> int:
    """Work off whatever is due, one piece after the other; how many pieces that were. For tools and tests."""
    pieces = 0
    while True:
        works = (lane.prepare() for lane in lanes(db, functions)[0])
        work = next((work for work in works if not isinstance(work, int)), None)
        if work is None:
            return pieces
        write_and_wait(db.store, work if callable(work) else work.send())
        pieces += 1
