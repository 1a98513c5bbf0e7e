"""The access keys of a database: finding them in a snapshot, and the plans that change them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hashrange.access.key import AccessKey
from hashrange.engine import keyspace
from hashrange.storage.interface import Plan, Planner, Snapshot
from hashrange.values.ordered import after


def find_key(snapshot: Snapshot, key_id: str) -> AccessKey | None:
    raw = snapshot.get(keyspace.access_key_key(key_id))
    return None if raw is None else AccessKey.load(raw)


def every_key(snapshot: Snapshot) -> Iterator[AccessKey]:
    for _, raw in snapshot.scan(keyspace.ACCESS_KEY, after(keyspace.ACCESS_KEY)):
        yield AccessKey.load(raw)


def keep(key: AccessKey) -> Planner:
    """A plan that adds a new key."""
    return lambda snapshot: Plan([(keyspace.access_key_key(key.id), key.stored())], answer=key)


def change(key_id: str, changed: Callable[[AccessKey], AccessKey | None]) -> Planner:
    """A plan that changes a key, or removes it if it becomes None. Its answer is the key as it was, if any."""

    def plan(snapshot: Snapshot) -> Plan:
        old = find_key(snapshot, key_id)
        if old is None:
            return Plan()
        new = changed(old)
        return Plan([(keyspace.access_key_key(key_id), None if new is None else new.stored())], answer=old)

    return plan
