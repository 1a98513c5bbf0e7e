"""The policy of a table or of a stream, as the store keeps it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import orjson

from hashrange.auth.policy.document import Policy, resource_policy
from hashrange.storage.interface import Snapshot

NO_POLICY = "NO_POLICY"
"""The revision that a resource without a policy is said to have."""


@dataclass(frozen=True, slots=True)
class ResourcePolicy:
    """A document, without needless white space, and the revision that it was given: when it was put."""

    text: str
    revision: str

    def dump(self) -> bytes:
        return orjson.dumps(asdict(self))

    @classmethod
    def load(cls, stored: bytes) -> ResourcePolicy:
        return cls(**orjson.loads(stored))


def find(snapshot: Snapshot, key: bytes) -> ResourcePolicy | None:
    stored = snapshot.get(key)
    return None if stored is None else ResourcePolicy.load(stored)


def read_policy(snapshot: Snapshot, key: bytes) -> Policy | None:
    """The policy that is in force for a resource, ready to be asked."""
    stored = snapshot.get(key)
    return None if stored is None else resource_policy(ResourcePolicy.load(stored).text)


def next_revision(current: ResourcePolicy | None, now_micros: int) -> str:
    """Revisions are milliseconds; two within one millisecond differ all the same."""
    now_millis = now_micros // 1000
    return str(now_millis if current is None else max(now_millis, int(current.revision) + 1))
