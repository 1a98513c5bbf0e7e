"""One turn of a lane: look for a batch, hand it to the function, and keep what came of it.

`prepare` reads the store and is quick. `Delivery.send` may take minutes, and touches no store; it returns the plan that
keeps its outcome. Between the two the world may change: the plan looks again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from uuid import uuid4

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.storage.interface import Plan, Planner, Snapshot
from hashrange.streams.records import trim_position
from hashrange.streams.stream import Stream
from hashrange.triggers import failures
from hashrange.triggers.batch import Batch, Place, read_batch
from hashrange.triggers.call import Context, FunctionFailed, Functions, NotCalled
from hashrange.triggers.checkpoint import Lane, checkpoint_of, postponed
from hashrange.triggers.outcome import (
    after_failure,
    failed_from,
    given_up_first,
    is_worth_keeping,
    window_ends_at,
)
from hashrange.triggers.patterns import compiled
from hashrange.triggers.target import Target, function_name, is_target, resolve
from hashrange.triggers.trigger import OK, PROBLEM, Trigger
from hashrange.values.ordered import after

log = logging.getLogger("hashrange.triggers")

NOTHING_DUE = 2**63  # no time will come; only a new change can
WORTH_KEEPING = 500  # so many unwanted changes are not looked at twice

Wait = int
"""When to look again, in microseconds, if no change comes before."""


def triggers(snapshot: Snapshot) -> Iterator[Trigger]:
    for _, stored in snapshot.scan(keyspace.TRIGGER, after(keyspace.TRIGGER)):
        yield Trigger.load(stored)


def places(snapshot: Snapshot) -> Iterator[Place]:
    """Every lane of every trigger that is enabled and has a stream."""
    for trigger in triggers(snapshot):
        stored = snapshot.get(bytes.fromhex(trigger.stream_key))
        if trigger.enabled and stored is not None:
            stream = Stream.load(stored)
            for slice_number in range(stream.slices):
                for lane in range(trigger.lanes):
                    yield Place(trigger, stream, slice_number, lane)


def prepare(db: Database, functions: Functions, place: Place) -> Delivery | Planner | Wait:
    """What a lane has to do now: a batch to deliver, a position to keep, or nothing until some time."""
    trigger, now = place.trigger, db.clock.micros()
    with db.read() as snapshot:
        checkpoint = checkpoint_of(snapshot, trigger, place.slice)
        if len(checkpoint.lanes) != trigger.lanes:
            return now  # the trigger is no longer as it was a moment ago
        lane = from_the_horizon(checkpoint.lanes[place.lane], now)
        if now < lane.due_at_micros:
            return lane.due_at_micros
        batch = read_batch(snapshot, place, lane, now, compiled(trigger.filters) if trigger.filters else None)
        target = resolve(snapshot, db.settings.functions, trigger.function)
    if not batch.changes:
        if batch.is_complete or is_worth_keeping(lane, batch, WORTH_KEEPING):
            return keeping(place, lane.moved_to(batch.position))
        return NOTHING_DUE
    if not batch.is_complete and now < (until := window_ends_at(trigger, batch)):
        return until
    return Delivery(db, functions, place, lane, batch, target)


def from_the_horizon(lane: Lane, now_micros: int) -> Lane:
    """A lane that is so late that the stream has forgotten what it was at begins anew."""
    horizon = trim_position(now_micros)
    return lane if lane.position >= horizon or not lane.misses else lane.moved_to(horizon)


def function_arn(trigger: Trigger) -> str:
    """A function's ARN; something that is not a function of a name is called what it is."""
    if is_target(trigger.function):
        return trigger.function
    return f"arn:aws:lambda:{trigger.region}:{trigger.account}:function:{function_name(trigger.function)}"


def keeping(place: Place, lane: Lane, result: str | None = None) -> Planner:
    """The plan that keeps a lane's state, and what the trigger says of its last call."""
    key = keyspace.checkpoint_key(place.trigger.uuid, place.slice)

    def plan(snapshot: Snapshot) -> Plan:
        stored = snapshot.get(place.trigger.stored_key)
        if stored is None:
            return Plan()
        trigger = Trigger.load(stored)
        checkpoint = checkpoint_of(snapshot, trigger, place.slice)
        if len(checkpoint.lanes) != place.trigger.lanes:
            return Plan()  # the slice was divided anew meanwhile, and this is delivered again
        mutations: list[tuple[bytes, bytes | None]] = [(key, checkpoint.with_lane(place.lane, lane).dump())]
        if result is not None and trigger.last_result != result:
            mutations.append((trigger.stored_key, replace(trigger, last_result=result).dump()))
        return Plan(mutations)

    return plan


@dataclass(frozen=True, slots=True)
class Delivery:
    """A batch on its way to a function."""

    db: Database
    functions: Functions
    place: Place
    lane: Lane
    batch: Batch
    target: Target | None

    def send(self) -> Planner:
        """Call the function and say what to keep. Touches no store, and does not raise."""
        trigger, place = self.place.trigger, self.place
        arn = function_arn(trigger)
        context = Context(arn.rpartition(":")[2], arn, str(uuid4()))
        now = self.db.clock.micros()
        too_old = given_up_first(trigger, self.batch, now)
        if too_old:
            batch = self.batch.cut(too_old)
            failures.tell(place, batch, context, failures.TOO_OLD, self.lane.attempts, now)
            return keeping(place, self.lane.moved_to(batch.position), PROBLEM if self.lane.misses else None)
        try:
            first = self._call(context)
        except NotCalled as error:
            log.warning("trigger %s: %s could not be called: %s", trigger.uuid, arn, error)
            return keeping(place, self._waiting(self.db.clock.micros()), PROBLEM)
        except FunctionFailed as error:
            log.warning("trigger %s: %s failed: %s", trigger.uuid, arn, error)
            first = 0
        if first is None:
            return keeping(place, self.lane.moved_to(self.batch.position), OK)
        return self._failed(context, first)

    def _call(self, context: Context) -> int | None:
        """From which change on the call failed; None if it did not."""
        if self.target is None:
            raise NotCalled("no function is registered under this name")
        answer = self.functions.call(self.target, self.batch.event(), context)
        return failed_from(answer, self.batch) if self.place.trigger.reports_failures else None

    def _waiting(self, now_micros: int) -> Lane:
        """The lane after a function could not be called: the batch waits, and nobody's retries are used up."""
        return replace(postponed(self.lane, now_micros), position=self.batch.changes[0].sequence)

    def _failed(self, context: Context, first: int) -> Planner:
        now = self.db.clock.micros()
        lane = after_failure(self.place.trigger, self.lane, self.batch, first, now)
        if lane is None:
            calls = self.lane.attempts + 1
            failures.tell(self.place, self.batch.rest(first), context, failures.RETRIES_EXHAUSTED, calls, now)
            lane = self.lane.moved_to(self.batch.position)
        return keeping(self.place, lane, PROBLEM)
