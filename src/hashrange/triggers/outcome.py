"""What a call's outcome means for the lane that made it: done, tried again, halved, or given up.

Pure rules; nothing here calls, reads or writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from hashrange.triggers.batch import Batch
from hashrange.triggers.checkpoint import Lane, backoff_micros
from hashrange.triggers.trigger import UNLIMITED, Trigger

WHOLE_BATCH = 0


def failed_from(answer: bytes, batch: Batch) -> int | None:
    """The first change that a function reports as failed, by its place in the batch; None if it reports none.

    A report that cannot be understood, or that names what was not in the batch, fails the whole batch.
    """
    try:
        reported = orjson.loads(answer) if answer else None
    except orjson.JSONDecodeError:
        return WHOLE_BATCH
    if not reported:
        return None
    failures = reported.get("batchItemFailures") if isinstance(reported, dict) else [None]
    if not failures:
        return None
    places = {number: place for place, number in enumerate(batch.numbers)}
    if not isinstance(failures, list):
        return WHOLE_BATCH
    return min(place_of(each, places) for each in failures)


def place_of(failure: Any, places: Mapping[str, int]) -> int:
    identifier = failure.get("itemIdentifier") if isinstance(failure, dict) else None
    return places.get(identifier, WHOLE_BATCH) if isinstance(identifier, str) else WHOLE_BATCH


def after_failure(trigger: Trigger, lane: Lane, batch: Batch, first: int, now_micros: int) -> Lane | None:
    """The lane after a call that failed from one of its changes on; None if the batch is to be given up.

    The same changes are tried again, without later ones. Halving costs no retry. If the changes before the failed one
    were done, the failed one has had its first attempt.
    """
    count = len(batch.changes)
    position = batch.changes[first].sequence
    kept = tuple(end for end in lane.ends if end >= batch.position)
    ends = kept if kept and kept[-1] == batch.position else (*kept, batch.position)
    if trigger.bisects and first == WHOLE_BATCH and count > 1:
        return Lane(position, lane.attempts, ends=(*ends, batch.changes[count // 2].sequence))
    attempts = 1 if first else lane.attempts + 1
    if trigger.retries_max != UNLIMITED and attempts > trigger.retries_max:
        return None
    misses = 1 if first else lane.misses + 1
    return Lane(position, attempts, misses, now_micros + backoff_micros(misses), ends)


def given_up_first(trigger: Trigger, batch: Batch, now_micros: int) -> int:
    """How many changes at the front of a batch are too old to be tried."""
    if trigger.age_seconds_max == UNLIMITED:
        return 0
    oldest = now_micros - trigger.age_seconds_max * 1_000_000
    count = 0
    while count < len(batch.changes) and batch.changes[count].written_at_micros < oldest:
        count += 1
    return count


def window_ends_at(trigger: Trigger, batch: Batch) -> int:
    """Until when a batch waits for company."""
    return batch.changes[0].written_at_micros + trigger.window_seconds * 1_000_000


def is_worth_keeping(lane: Lane, batch: Batch, looked_at_min: int) -> bool:
    """Whether having passed over changes that are not wanted is worth a write."""
    return batch.position > lane.position and batch.looked_at >= looked_at_min
