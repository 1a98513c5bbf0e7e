"""What auto scaling did, or tried to do: kept for six weeks, the latest told first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from hashrange.engine import keyspace
from hashrange.engine.scope import Scope
from hashrange.limits import SCALING_ACTIVITIES_KEPT_DAYS
from hashrange.scaling.resource import Resource
from hashrange.storage.interface import Snapshot
from hashrange.values.ordered import after

Mutation = tuple[bytes, bytes | None]

KEPT_MICROS = SCALING_ACTIVITIES_KEPT_DAYS * 86_400_000_000
FORGOTTEN_AT_ONCE = 20

IN_PROGRESS, SUCCESSFUL, FAILED = "InProgress", "Successful", "Failed"


@dataclass(frozen=True, slots=True)
class Activity:
    """One change of a capacity or of its bounds, or the failure to make it."""

    id: str
    resource: Resource
    description: str
    cause: str
    started_at_micros: int
    ended_at_micros: int
    failure: str | None = None  # why it did not happen
    of_capacity: bool = True  # not of the bounds: then DynamoDB has to fulfil it

    def status_at(self, micros: int) -> str:
        if self.failure is not None:
            return FAILED
        return IN_PROGRESS if micros < self.ended_at_micros else SUCCESSFUL

    def message_at(self, micros: int) -> str:
        """The status in a sentence: "Setting X." has become "Successfully set X." or "Failed to set X."."""
        done = self.description.replace("Setting", "Successfully set", 1)
        if self.failure is not None:
            return f"{self.description.replace('Setting', 'Failed to set', 1)} Reason: {self.failure}"
        if not self.of_capacity:
            return done
        if micros < self.ended_at_micros:
            return f"{done} Waiting for change to be fulfilled by dynamodb."
        return f"{done} Change successfully fulfilled by dynamodb."

    @classmethod
    def load(cls, stored: bytes) -> Activity:
        fields: dict[str, Any] = orjson.loads(stored)
        return cls(**{**fields, "resource": Resource(**fields["resource"])})


def add_activity(snapshot: Snapshot, scope: Scope, activity: Activity, number: int) -> list[Mutation]:
    """Keep an activity, and forget some of those that are too old. The number puts those of one moment in order."""
    key = keyspace.scaling_activity_key(scope.prefix, activity.started_at_micros + number, activity.id)
    prefix = keyspace.scaling_activity_prefix(scope.prefix)
    end = keyspace.scaling_activity_key(scope.prefix, max(activity.started_at_micros - KEPT_MICROS, 0), "")
    old = snapshot.scan(prefix, end, limit=FORGOTTEN_AT_ONCE)
    return [(key, orjson.dumps(asdict(activity))), *((each, None) for each, _ in old)]


def activities(
    snapshot: Snapshot, scope: Scope, now_micros: int, before: bytes | None
) -> Iterator[tuple[bytes, Activity]]:
    """The activities of the last six weeks with their keys, the latest first; those before a key if one is given."""
    prefix = keyspace.scaling_activity_prefix(scope.prefix)
    start = keyspace.scaling_activity_key(scope.prefix, max(now_micros - KEPT_MICROS, 0), "")
    end = after(prefix)
    for key, stored in snapshot.scan(start, end if before is None else min(before, end), reverse=True):
        yield key, Activity.load(stored)
