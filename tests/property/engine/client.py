"""Talks to the engine in process, as the door would: one operation after the other, on a store of one's own."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
from hypothesis import HealthCheck, Phase, settings

from hashrange.app import Settings, build_database
from hashrange.clock import ManualClock
from hashrange.engine.check import check
from hashrange.engine.database import DatabaseSettings
from hashrange.engine.scope import scope_of
from hashrange.jobs.job import IoStep
from hashrange.jobs.runner import JOBS
from hashrange.operations.operation import Request, Write
from hashrange.operations.registry import operations
from hashrange.storage import Durability, LmdbStore, Store, write_and_wait
from hashrange.storage.memory import MemoryStore

SCOPE = scope_of("000000000000", "us-east-1")
BY_NAME = {operation.name: operation for operation in operations()}
SOAK_FACTOR = 40
STEPS_MAX = 1000


def examples(count: int) -> settings:
    """So many examples; far more of them when the environment asks for the profile "soak"."""
    factor = SOAK_FACTOR if os.environ.get("HYPOTHESIS_PROFILE") == "soak" else 1
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    phases = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
    return settings(max_examples=count * factor, deadline=None, suppress_health_check=slow, phases=phases)


class Client:
    """A database on a store, with a clock that stands still."""

    def __init__(self, store: Store, database: DatabaseSettings | None = None) -> None:
        self.store = store
        self.clock = ManualClock()
        self.db = build_database(store, Settings(database=database or DatabaseSettings()), self.clock)

    def call(self, operation: str, **members: Any) -> Any:
        answer = BY_NAME[operation].run(self.db, Request(copy.deepcopy(members), SCOPE))
        if isinstance(answer, Write):
            answer = write_and_wait(self.store, answer.plan)
        return orjson.loads(orjson.dumps(answer))

    def pages(self, operation: str, **members: Any) -> Iterator[Any]:
        """Every page of a Query or Scan, each asked for with the last key of the one before it."""
        while True:
            page = self.call(operation, **members)
            yield page
            if "LastEvaluatedKey" not in page:
                return
            members["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def items(self, operation: str, **members: Any) -> list[Any]:
        return [item for page in self.pages(operation, **members) for item in page["Items"]]

    def step(self, number: int) -> bool:
        """One step of one job; whether there was anything to do."""
        step = JOBS[number].next_step(self.db)
        if step is not None:
            write_and_wait(self.store, step.run() if isinstance(step, IoStep) else step)
        return step is not None

    def run_jobs(self) -> None:
        """Everything the jobs can do for now."""
        for _ in range(STEPS_MAX):
            steps = [self.step(number) for number in range(len(JOBS))]
            if not any(steps):
                return
        raise AssertionError("the jobs do not come to an end")

    def problems(self) -> list[str]:
        with self.store.read() as snapshot:
            found = list(check(snapshot, self.clock.micros()))
        return found + (list(self.store.verify()) if isinstance(self.store, LmdbStore) else [])

    def stored_keys(self) -> list[bytes]:
        with self.store.read() as snapshot:
            return [key for key, _ in snapshot.scan(b"", b"\xff")]


@contextmanager
def in_memory(database: DatabaseSettings | None = None) -> Iterator[Client]:
    yield Client(MemoryStore(), database)


@contextmanager
def on_disk(database: DatabaseSettings | None = None) -> Iterator[Client]:
    with tempfile.TemporaryDirectory(prefix="hashrange-") as directory:
        store = LmdbStore.open(directory, durability=Durability.NONE)
        try:
            yield Client(store, database)
        finally:
            store.close()
