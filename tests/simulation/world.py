"""A whole database in a simulated world: its store, its clock and its scheduler all follow one seed.

Virtual clients send requests through the real dispatcher; background jobs take their steps; commits come late, in any
order and sometimes not at all; results are delayed; now and then everything crashes and is built anew on what was
committed. A model of dictionaries follows every plan at the moment when it takes effect. Whatever is read must be what
the model holds, whatever is answered must be what the model expected, and `check` must never find anything.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import orjson

from harness import AUTHORIZATION, FakeExchange, target_of
from hashrange import app
from hashrange.clock import ManualClock
from hashrange.engine.check import check
from hashrange.engine.database import DatabaseSettings
from hashrange.jobs.job import IoStep, Job
from hashrange.jobs.runner import JOBS
from hashrange.storage import Result
from simulation.control import Control
from simulation.model import GUEST, STEADY, Item, Key, TableModel, key_of, wire_key
from simulation.requests import Request, Writer
from simulation.steps import small_steps
from simulation.store import SimulatedStore

CLIENTS = 5
STEPS = 350
DAY_MICROS = 86_400_000_000
HEADERS = {b"content-type": b"application/x-amz-json-1.0", b"x-amz-date": b"20260101T000000Z"}


class World:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.clock = ManualClock()
        self.store = SimulatedStore(self.random)
        self.tables: dict[str, TableModel] = {}
        self.counts: Counter[str] = Counter()
        choose = self.random.choice
        self.settings = app.Settings(
            database=DatabaseSettings(
                table_delay_micros=choose((0, 0, 500_000)),
                index_delay_micros=choose((0, 0, 0, 2_000_000)),
                stream_shards=choose((1, 3)),
            )
        )
        self.writer = Writer(self.random, (*STEADY, *STEADY, GUEST), self.clock.seconds)
        self.control = Control(self)
        self._busy_jobs: set[str] = set()
        self._clients: list[Client | None] = [None] * CLIENTS
        self._start()

    def _start(self) -> None:
        """What happens when a process starts: everything but the store is new."""
        self.db = app.build_database(self.store, self.settings, self.clock)
        self._handle = app.build_handler(self.db, self.settings)
        self._busy_jobs.clear()
        self._clients = [None] * CLIENTS

    # The scheduler

    def run(self, steps: int = STEPS) -> None:
        for name in STEADY:
            self.control.create_table(name)
            self.settle()
            self.clock.advance(1)
        self.control.enable_stream(STEADY[0])
        self.settle()
        happenings: list[tuple[Callable[[], None], int]] = [
            (self.send, 70),
            (self.commit, 45),
            (self.deliver, 45),
            (self.run_job, 35),
            (self.read, 15),
            (self.pass_time, 12),
            (self.control_something, 16),
            (self.fail_commit, 4),
            (self.look, 4),
            (self.crash, 1),
        ]
        calls, weights = zip(*happenings, strict=True)
        for happening in self.random.choices(calls, weights, k=steps):
            happening()
            self.counts["steps"] += 1
        self.settle()
        self.look()
        self.control.look_at_everything()

    def tick(self) -> None:
        """No two plans take effect at the same time."""
        self.clock.advance(self.random.uniform(0.001, 0.004))

    def commit(self) -> None:
        self.store.commit(self.tick)

    def fail_commit(self) -> None:
        self.store.commit(self.tick, fails=True)

    def deliver(self) -> None:
        self.store.deliver()
        self._hear()

    def crash(self) -> None:
        self.store.crash()
        self._start()
        self.counts["crashes"] += 1

    def pass_time(self) -> None:
        self.clock.advance(self.random.choice((0.01, 0.3, 1.0, 30.0, 400.0, 7_000.0, 84_000.0)))

    def settle(self) -> None:
        """Let everything end that is under way."""
        for _ in range(10_000):
            started = [self._start_job(job) for job in JOBS]
            if not any(started) and not self.store.waiting and not self.store.finished:
                return
            self.tick()
            self.store.commit(self.tick)
            self.store.deliver(everything=True)
            self._hear()
        raise AssertionError("the jobs never come to an end")

    # Jobs

    def run_job(self) -> None:
        """One job that has something to do takes a step."""
        for job in self.random.sample(JOBS, len(JOBS)):
            if self._start_job(job):
                return

    def _start_job(self, job: Job) -> bool:
        """Let a job look for work, and submit its next step. What it saw may have changed when the step is run."""
        if job.name in self._busy_jobs:
            return False
        step = job.next_step(self.db)
        if step is None:
            return False
        self._busy_jobs.add(job.name)
        busy = self._busy_jobs
        self.store.effect = lambda result: self._job_took_effect(job, result)
        self.store.write(step.run() if isinstance(step, IoStep) else step, lambda result: busy.discard(job.name))
        self.counts["job steps"] += 1
        return True

    def _job_took_effect(self, job: Job, result: Result) -> None:
        assert result.error is None, result.error
        if job.name == "expire-items":
            self._notice_expiry()

    def _notice_expiry(self) -> None:
        """Items that were due and are gone were deleted by the service; the model does not know in which order."""
        now = self.clock.seconds()
        for table in self.tables.values():
            for key in table.expired(now):
                if "Item" not in self.ask("GetItem", TableName=table.name, Key=wire_key(key)):
                    table.write(key, None, self.clock.micros(), by_service=True)
                    self.counts["expired items"] += 1

    # Requests

    def ask(self, operation: str, **members: Any) -> Any:
        """A request that is answered at once."""
        exchange = self.submit(operation, members)
        assert exchange.answer is not None
        status, _, body = exchange.answer
        content = orjson.loads(body)
        assert status == 200, (operation, members, content)
        return content

    def submit(self, operation: str, members: dict[str, Any]) -> FakeExchange:
        headers = {
            **HEADERS,
            b"x-amz-target": target_of(operation),
            b"authorization": AUTHORIZATION % (b"AKID", b"us-east-1"),
        }
        exchange = FakeExchange(headers, orjson.dumps(members))
        self._handle(exchange)  # type: ignore[arg-type]
        return exchange

    def send(self) -> None:
        """A client that waits for nothing sends a write."""
        idle = [number for number, client in enumerate(self._clients) if client is None]
        if not idle:
            return
        request = self.writer.request()
        uncertain = self.control.uncertain_tables()
        client = Client(request)

        def effect(result: Result) -> None:
            if GUEST in uncertain | self.control.uncertain_tables() and concerns(request, GUEST):
                client.follow_blindly(self.tables, self.clock.micros(), result)
            else:
                request.outcome = request.apply(self.tables, self.clock.micros())

        self.store.effect = effect
        client.exchange = self.submit(request.operation, request.members)
        self._clients[self.random.choice(idle)] = client
        self.counts["requests"] += 1
        self._hear()

    def _hear(self) -> None:
        """Look at the answers that have arrived."""
        for number, client in enumerate(self._clients):
            if client is not None and client.exchange is not None and client.exchange.answer is not None:
                client.check()
                self.counts["answers"] += 1
                self._clients[number] = None
        self.control.hear()

    def control_something(self) -> None:
        self.control.something()

    # Reading and looking

    def read(self) -> None:
        name = self.random.choice(STEADY)
        table = self.tables[name]
        key = self.writer.key()
        if self.random.random() < 0.5:
            found = self.ask("GetItem", TableName=name, Key=wire_key(key), ConsistentRead=True)
            assert found.get("Item") == table.items.get(key)
        else:
            page = self.ask(
                "Query",
                TableName=name,
                KeyConditionExpression="pk = :pk",
                ExpressionAttributeValues={":pk": {"S": key[0]}},
            )
            expected = [item for found, item in sorted(table.items.items()) if found[0] == key[0]]
            assert page["Items"] == expected
        self.counts["reads"] += 1

    def scan(self, table: str, **members: Any) -> dict[Key, Item]:
        return {key_of(item): item for item in self.ask("Scan", TableName=table, **members)["Items"]}

    def look(self) -> None:
        """Everything that can be read must be what the model has."""
        with self.store.read() as snapshot:
            found = list(check(snapshot, self.clock.micros()))
        assert found == []
        for name in STEADY:
            assert self.scan(name) == self.tables[name].items
        self.control.look()
        self.counts["looks"] += 1


@contextmanager
def silence() -> Iterator[None]:
    """Failures are what a world is for; nobody needs to read about each."""
    logger = logging.getLogger("hashrange")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def run_world(seed: int, steps: int = STEPS) -> Counter[str]:
    """Let a world live and end; what happened in it. A failure names its seed."""
    world = World(seed)
    try:
        with small_steps(), silence():
            world.run(steps)
    except BaseException as error:
        error.add_note(f"Replay it with: pytest tests/simulation --seed {seed}")
        raise
    world.counts["commits"], world.counts["failed commits"] = world.store.commits, world.store.failures
    return world.counts


class Client:
    """One request on its way."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.exchange: FakeExchange | None = None
        self._is_blind = False

    def follow_blindly(self, tables: dict[str, TableModel], micros: int, result: Result) -> None:
        """The table comes or goes: whether the request succeeds is the database's choice, what it does then is not."""
        self._is_blind = True
        if result.error is None and all(name in tables for name in tables_of(self.request)):
            self.request.apply(tables, micros)

    def check(self) -> None:
        assert self.exchange is not None
        assert self.exchange.answer is not None
        status, _, body = self.exchange.answer
        answer = orjson.loads(body)
        code = answer.get("__type", "").rpartition("#")[2]
        if code == "InternalServerError":
            assert self.request.outcome is None, "told of a failure after it happened"
            return
        outcome = self.request.outcome
        if self._is_blind:
            return
        assert outcome is not None, f"answered before it happened: {self.request} {answer}"
        assert (code or None) == outcome.error, f"{self.request}: {answer}"
        for name, value in outcome.members.items():
            found = answer[name]
            if name == "CancellationReasons":
                found = [{"Code": reason["Code"]} for reason in found]
            assert found == value, f"{self.request}: {answer}"
        assert status == (200 if outcome.error is None else 400)


def tables_of(request: Request) -> set[str]:
    members = request.members
    if "RequestItems" in members:
        return set(members["RequestItems"])
    if "TransactItems" in members:
        return {next(iter(item.values()))["TableName"] for item in members["TransactItems"]}
    return {members["TableName"]}


def concerns(request: Request, table: str) -> bool:
    return table in tables_of(request)
