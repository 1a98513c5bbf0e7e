"""Kinesis destinations: where the changes of a table are copied to, and how far that has come. Kept in the store.

A change of status is written once, with its outcome, like that of a table: whoever reads it later sees the outcome.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson

from hashrange.engine import keyspace
from hashrange.limits import KINESIS_DISABLED_SECONDS
from hashrange.storage.interface import Snapshot

LOG_READER = "kinesis"

ENABLING, ACTIVE, UPDATING = "ENABLING", "ACTIVE", "UPDATING"
DISABLING, DISABLED, ENABLE_FAILED = "DISABLING", "DISABLED", "ENABLE_FAILED"
ENDED = (DISABLED, ENABLE_FAILED)

MICROSECOND = "MICROSECOND"
STREAM_ARN = re.compile(r"arn:aws[a-z-]*:kinesis:([a-z0-9-]+):\d{12}:stream/([a-zA-Z0-9_.-]{1,128})")
LINGER_MICROS = KINESIS_DISABLED_SECONDS * 1_000_000


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one slice of the log is copied."""

    position: int
    misses: int = 0  # failures in a row
    due_at_micros: int = 0


@dataclass(frozen=True, slots=True)
class Destination:
    """One Kinesis stream that a table's changes go to, or went to."""

    stream_arn: str
    passing: str  # the status before `settles_at_micros`
    status: str  # and from then on
    settles_at_micros: int
    slices: tuple[Progress, ...]
    precision: str | None = None  # None: milliseconds, which nobody asked for
    reason: str | None = None
    delivered: bool = False  # whether the stream has ever taken a record

    def status_at(self, micros: int) -> str:
        return self.passing if micros < self.settles_at_micros else self.status

    def is_shown(self, micros: int) -> bool:
        """What was disabled is shown for some minutes."""
        return self.status not in ENDED or micros < self.settles_at_micros + LINGER_MICROS

    @property
    def is_live(self) -> bool:
        return self.status not in ENDED

    def becoming(self, passing: str, status: str, settles_at_micros: int, reason: str | None = None) -> Destination:
        return replace(self, passing=passing, status=status, settles_at_micros=settles_at_micros, reason=reason)

    def with_progress(self, slice_number: int, progress: Progress) -> Destination:
        before, rest = self.slices[:slice_number], self.slices[slice_number + 1 :]
        return replace(self, slices=(*before, progress, *rest), delivered=self.delivered or not progress.misses)


@dataclass(frozen=True, slots=True)
class Destinations:
    """All destinations of one table: at most one that is live, and those that lately were."""

    table_id: int
    account: str
    region: str
    table_name: str
    every: tuple[Destination, ...] = ()

    @property
    def stored_key(self) -> bytes:
        return keyspace.kinesis_key(self.table_id)

    @property
    def live(self) -> Destination | None:
        return next((each for each in self.every if each.is_live), None)

    def to(self, stream_arn: str) -> Destination | None:
        return next((each for each in self.every if each.stream_arn == stream_arn), None)

    def with_destination(self, destination: Destination, now_micros: int) -> Destinations:
        """With that destination in the place of the one to the same stream, and without those long ended."""
        others = [each for each in self.every if each.stream_arn != destination.stream_arn]
        return replace(self, every=(*(each for each in others if each.is_shown(now_micros)), destination))

    def dump(self) -> bytes:
        return orjson.dumps(asdict(self))

    @classmethod
    def load(cls, stored: bytes) -> Destinations:
        fields: dict[str, Any] = orjson.loads(stored)
        every = tuple(
            Destination(**{**each, "slices": tuple(Progress(**progress) for progress in each["slices"])})
            for each in fields["every"]
        )
        return cls(**{**fields, "every": every})


def destinations_of(snapshot: Snapshot, table_id: int) -> Destinations | None:
    stored = snapshot.get(keyspace.kinesis_key(table_id))
    return None if stored is None else Destinations.load(stored)
