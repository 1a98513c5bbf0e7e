"""Things that a process keeps between two steps of a job, only to save work: a reader, a set of changes.

Nothing depends on them. A step that finds nothing, because the server was started again, makes it anew from the
progress that is in the store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from hashrange.engine.database import Database

Thing = TypeVar("Thing")


class Kept(Generic[Thing]):
    """One thing for each transfer of a database."""

    def __init__(self) -> None:
        self._things: WeakKeyDictionary[Database, dict[bytes, Thing]] = WeakKeyDictionary()

    def get(self, db: Database, key: bytes, make: Callable[[], Thing]) -> Thing:
        things = self._things.setdefault(db, {})
        if key not in things:
            things[key] = make()
        return things[key]

    def pop(self, db: Database, key: bytes) -> Thing | None:
        return self._things.get(db, {}).pop(key, None)
