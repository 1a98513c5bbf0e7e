"""What each worker knows only of itself, such as its open connections, told to the others through the store.

A worker has a record with its process id, which it writes anew when its numbers have changed. Records of processes that
are gone are passed over, and removed by the next one that starts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.storage.files import data_size_bytes
from hashrange.storage.interface import Plan, Result, Snapshot
from hashrange.values.ordered import after


class WorkerBoard:
    """The numbers of this worker, and the sums of all."""

    def __init__(self, db: Database, data: str | None) -> None:
        self._db = db
        self._data = data  # the directory of the database
        self._connections: Callable[[], int] = lambda: 0
        self._told: int | None = None

    def watch(self, connections: Callable[[], int]) -> None:
        """From now on there are connections to count."""
        self._connections = connections

    def tell(self) -> None:
        """Write our record if it is not true any more."""
        connections = self._connections()
        if connections == self._told:
            return
        first, self._told = self._told is None, connections

        def plan(snapshot: Snapshot) -> Plan:
            mine = (keyspace.worker_key(os.getpid()), orjson.dumps({"connections": connections}))
            gone = [pid for pid, _ in records(snapshot) if not is_running(pid)] if first else []
            return Plan([*((keyspace.worker_key(pid), None) for pid in gone), mine])

        self._db.store.write(plan, _done)

    def gauges(self) -> dict[str, float]:
        with self._db.read() as snapshot:
            others = [count for pid, count in records(snapshot) if pid != os.getpid() and is_running(pid)]
        gauges: dict[str, float] = {"open_connections": sum(others) + self._connections(), "workers": len(others) + 1}
        if self._data is not None:
            gauges["store_bytes"] = data_size_bytes(Path(self._data))
        return gauges


def own_record_again(snapshot: Snapshot) -> Plan:
    """A write that changes nothing, but has to be written all the same."""
    key = keyspace.worker_key(os.getpid())
    return Plan([(key, snapshot.get(key) or orjson.dumps({"connections": 0}))])


def records(snapshot: Snapshot) -> Iterator[tuple[int, int]]:
    """The process id and the connections of every worker that has told."""
    for key, stored in snapshot.scan(keyspace.WORKER, after(keyspace.WORKER)):
        yield int(key[len(keyspace.WORKER) :]), orjson.loads(stored)["connections"]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _done(result: Result) -> None:
    """What could not be told is told with the next change."""
