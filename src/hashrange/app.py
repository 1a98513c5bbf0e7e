"""The one place where everything is wired together: a store, a database on it, and a door in front of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from hashrange.capacity.board import Board, LocalBoard
from hashrange.capacity.ledger import CapacitySettings, TokenLedger
from hashrange.capacity.limits import Cause, Throttling
from hashrange.clock import Clock, OffsetClock, SystemClock
from hashrange.engine.clock_offset import clock_offset, reset
from hashrange.engine.counters import TableCounters
from hashrange.engine.database import Database, DatabaseSettings
from hashrange.engine.scope import scope_of
from hashrange.engine.table import Table
from hashrange.errors import Wording
from hashrange.http import server
from hashrange.http.admission import Authenticator, for_full_access
from hashrange.http.clock_control import CLOCK_URL, FOLLOW_SECONDS, ClockControl, follow, no_clock
from hashrange.http.dispatch import Dispatcher, Target
from hashrange.http.door import Settings as DoorSettings
from hashrange.http.exchange import Handler
from hashrange.http.observe import Observer, ObserveSettings
from hashrange.http.observe_pages import LIVE_URL, METRICS_URL, READY_URL, Gauges, MetricsPage, ReadyPage, live
from hashrange.http.observe_workers import WorkerBoard
from hashrange.http.origins import PageGuard, pages_of
from hashrange.http.overload import CallSoon, Memory
from hashrange.http.pending import Pending
from hashrange.http.side_doors import SideDoor, SideDoors
from hashrange.http.tls import LiveContext
from hashrange.http.workers import stop_signals
from hashrange.indexes.maintainer import index_maintainers
from hashrange.indexes.propagation import Propagation, is_anything_postponed
from hashrange.insights.recorder import KeyRecorder
from hashrange.jobs.carry_out import carry_out
from hashrange.metrics.recorder import MetricsRecorder
from hashrange.operations import registry
from hashrange.operations.operation import Operation
from hashrange.storage import (
    Completions,
    Deliver,
    Durability,
    LmdbStore,
    Lost,
    Store,
    Unavailable,
    deliver_inline,
)
from hashrange.ttl.queue import expiry_queue
from hashrange.validation.shape import load

if TYPE_CHECKING:
    from hashrange.auth.signing import SigningKeys
    from hashrange.capacity.bucket import Minute
    from hashrange.engine.change_log import ChangeLog

log = logging.getLogger("hashrange.server")

BOOKS_SECONDS = 1.0
RECORD_SECONDS = 1.0
LOAD_AFTER_SECONDS = 1.0
JOBS_AFTER_SECONDS = 0.25

# What a server starts without, because not every request needs it.
LOADED_LATE = (
    "hashrange.capacity.history",
    "hashrange.engine.change_log",
    "hashrange.http.cloudwatch",
    "hashrange.http.rest",
    "hashrange.insights.rules",
    "hashrange.operations.policies.authorise",
    "hashrange.validation.explain",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a server is told when it starts."""

    data: str | None = None  # None: in memory
    durability: Durability = Durability.SYNC
    sync_interval_seconds: float = 0.1
    account: str = "000000000000"
    region: str = "us-east-1"
    wording: Wording = Wording.NEWER
    database: DatabaseSettings = field(default_factory=DatabaseSettings)
    door: DoorSettings = field(default_factory=DoorSettings)
    capacity: CapacitySettings = field(default_factory=CapacitySettings)
    board: Board = field(default_factory=LocalBoard)  # where workers see what the others used
    ssl_context: LiveContext | None = None
    dev_clock: bool = False  # whether time may be moved
    observe: ObserveSettings = field(default_factory=ObserveSettings)
    verify_signatures: bool = False
    allowed_origins: tuple[str, ...] = ()  # of web pages that may call though nothing is verified
    bootstrap: SigningKeys | None = None  # a key that may do everything and is not stored


def open_store(settings: Settings, deliver: Deliver = deliver_inline, lost: Lost = lambda: None) -> Store:
    if settings.data is None:
        from hashrange.storage.memory import MemoryStore  # others start without it

        return MemoryStore(deliver)
    return LmdbStore.open(
        settings.data,
        durability=settings.durability,
        sync_interval_seconds=settings.sync_interval_seconds,
        deliver=deliver,
        lost=lost,
    )


def build_database(store: Store, settings: Settings, clock: Clock) -> Database:
    delay_micros = settings.database.index_delay_micros
    propagation = Propagation(delay_micros, clock) if delay_micros else None
    indexes = index_maintainers(propagation, settings.database.item_collection_bytes_max)

    def log(table: Table) -> ChangeLog | None:
        if not table.definition.is_logged:
            return None
        from hashrange.engine.change_log import ChangeLog  # others start without it

        return ChangeLog(table, clock)

    def used_earlier(table: Table, index: str | None, kind: str, cause: Cause) -> Sequence[Minute]:
        from hashrange.capacity.history import used_lately  # for tables that have limits; others start without it

        return used_lately(db, table, index, kind, cause)

    db = Database(store, clock, settings.database, (TableCounters, indexes, log, expiry_queue))
    if settings.capacity.throttling is not Throttling.OFF:
        db.ledger = TokenLedger(clock, settings.board, settings.capacity, used_earlier)
    home = scope_of(settings.account, settings.region)
    db.recorder = MetricsRecorder(store, clock, home, KeyRecorder(clock))
    return db


TARGETS = {
    "dynamodb": "DynamoDB_20120810",
    "dynamodbstreams": "DynamoDBStreams_20120810",
    "application-autoscaling": "AnyScaleFrontendService",
}


def contents() -> dict[bytes, Callable[[], Target]]:
    """The operations by the value of the X-Amz-Target header that asks for them."""
    return {
        f"{TARGETS[registry.service_of(module)]}.{registry.name_of(module)}".encode(): partial(load_target, module)
        for module in (*registry.CONTENTS, *registry.SCALING_CONTENTS)
    }


def cloudwatch_contents() -> dict[str, Callable[[], Operation]]:
    return {registry.name_of(module): partial(registry.load, module) for module in registry.CLOUDWATCH_CONTENTS}


def load_target(module: str) -> Target:
    operation = registry.load(module)
    return Target(operation, load(operation.service)[operation.name])


def build_handler(
    db: Database,
    settings: Settings,
    memory: Memory | None = None,
    call_soon: CallSoon | None = None,
    gauges: Gauges = dict,
) -> Dispatcher:
    """The handler of every request; `memory` is what it shares with the door, `call_soon` how long reads go on,
    `gauges` what a worker knows of itself."""
    authenticator = authenticator_of(db, settings) if settings.verify_signatures else None
    observer = Observer(settings.observe, db.clock) if settings.observe.looks_at_requests else None
    clock_page = ClockControl(db, db.clock) if isinstance(db.clock, OffsetClock) else no_clock
    pending = Pending(db.store, memory, call_soon)
    return Dispatcher(
        db,
        contents(),
        account=settings.account,
        region=settings.region,
        wording=settings.wording,
        controls={
            CLOCK_URL: for_full_access(clock_page, authenticator),
            **observing_pages(db, settings, gauges, pending),
        },
        rest=SideDoors(partial(other_doors, db, pending, observer)),
        observer=observer,
        authenticator=authenticator,
        pages=page_guard(settings),
        pending=pending,
    )


def other_doors(db: Database, pending: Pending, observer: Observer | None) -> tuple[SideDoor, ...]:
    """Those of CloudWatch and Lambda. A server that starts does not wait for them to load."""
    from hashrange.http.cloudwatch import CloudWatchDoor
    from hashrange.http.rest import RestDoor

    return (
        CloudWatchDoor(db, cloudwatch_contents(), pending, observer),
        RestDoor(db, registry.rest_operations, pending, observer),
    )


def observing_pages(db: Database, settings: Settings, gauges: Gauges, pending: Pending) -> dict[bytes, Handler]:
    token = settings.observe.metrics_token
    return {
        METRICS_URL: MetricsPage(db, gauges, pending, token=token, local_only=settings.verify_signatures),
        LIVE_URL: live,
        READY_URL: ReadyPage(db),
    }


def page_guard(settings: Settings) -> PageGuard | None:
    """Where requests are signed, a page needs a key like everybody else, and may come from anywhere."""
    pages = None if settings.verify_signatures else pages_of(settings.allowed_origins)
    return None if pages is None else PageGuard(pages)


def authenticator_of(db: Database, settings: Settings) -> Authenticator:
    # Servers that verify nothing do not wait for this to load.
    from hashrange.access.authenticator import Authenticator as KeyAuthenticator
    from hashrange.access.authenticator import bootstrap_entry
    from hashrange.access.server_key import find_server_key

    clock = db.clock
    bootstrap = settings.bootstrap
    return KeyAuthenticator(
        db.store,
        server_key=lambda: find_server_key(settings.data, os.environ),
        # Clients sign with the true time, also where ours was moved.
        now_seconds=clock.unmoved_seconds if isinstance(clock, OffsetClock) else clock.seconds,
        bootstrap=bootstrap_entry(bootstrap, settings.account) if bootstrap is not None else None,
    )


async def settle_clock(db: Database) -> None:
    """Start with the time that the database has, or, where time cannot be moved, with the machine's own."""
    if isinstance(db.clock, OffsetClock):
        follow(db, db.clock)
        return
    with db.read() as snapshot:
        offset_micros = clock_offset(snapshot)
    if offset_micros:
        log.warning("the clock was moved by %+d s; without --dev-clock it is reset", offset_micros // 1_000_000)
        await carry_out(db, reset)


async def settle(db: Database) -> None:
    """What has to be done before the first request, because the server was started in another way before."""
    await settle_clock(db)
    with db.read() as snapshot:
        postponed = is_anything_postponed(snapshot)
    if postponed and not db.settings.index_delay_micros:
        from hashrange.jobs import propagate_indexes  # others start without it

        while (step := propagate_indexes.catch_up(db)) is not None:
            await carry_out(db, step)


def deliver_in(loop: asyncio.AbstractEventLoop, deliver: Deliver) -> Deliver:
    """Hand finished writes to the loop's thread, a whole commit at a time."""
    return lambda completions: call_in(loop, deliver, completions)


def call_in(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *arguments: Any) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is gone, and so are those who waited
        loop.call_soon_threadsafe(call, *arguments)


async def again_and_again(seconds: float, what: str, do: Callable[[], Awaitable[None]]) -> None:
    """Do something every so often, until cancelled. One that fails is told, and tried again."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await do()
        except Exception:
            log.exception("%s; trying again", what)


async def keep_books(db: Database) -> None:
    """Let the ledger see what other workers used."""
    if isinstance(db.ledger, TokenLedger):
        db.ledger.tick()


async def hand_over(db: Database, workers: WorkerBoard) -> None:
    """Hand over what was counted; each worker does this for itself."""
    while db.recorder.digest():
        await asyncio.sleep(0)
    db.recorder.flush()
    workers.tell()


async def follow_others(db: Database, clock: OffsetClock) -> None:
    """Move the clock when another worker was told to."""
    follow(db, clock)


def beside_requests(db: Database, workers: WorkerBoard) -> Iterator[Coroutine[Any, Any, None]]:
    """What every worker does for itself, until cancelled."""
    yield again_and_again(BOOKS_SECONDS, "what others used could not be seen", partial(keep_books, db))
    yield again_and_again(RECORD_SECONDS, "what was counted could not be handed over", partial(hand_over, db, workers))
    yield load_the_rest()
    if isinstance(db.clock, OffsetClock):
        yield again_and_again(FOLLOW_SECONDS, "the clock could not be read", partial(follow_others, db, db.clock))


async def load_the_rest() -> None:
    """Load every operation that was not asked for yet, and what only some requests need, one after the other and beside
    the requests. When it is asked for later, there may be no file descriptor left to load it with."""
    await asyncio.sleep(LOAD_AFTER_SECONDS)
    loop = asyncio.get_running_loop()
    late = (partial(import_module, module) for module in LOADED_LATE)
    rest: Iterator[Callable[[], object]] = chain(
        contents().values(), cloudwatch_contents().values(), (registry.rest_operations,), late
    )
    for load_one in rest:
        try:
            await loop.run_in_executor(None, load_one)
        except Exception:
            log.exception("something could not be loaded; it is tried again when it is asked for")


async def run_background(db: Database) -> None:
    """Jobs and deliveries, until cancelled. They are loaded after the first requests, which would share the processor
    with them."""
    await asyncio.sleep(JOBS_AFTER_SECONDS)
    loop = asyncio.get_running_loop()
    runner = await loop.run_in_executor(None, import_module, "hashrange.jobs.runner")
    deliveries = await loop.run_in_executor(None, import_module, "hashrange.jobs.delivery_runner")
    await asyncio.gather(runner.run_jobs(db), deliveries.run_deliveries(db))


class End:
    """When to stop: when told to by a signal, or when the store is lost to this process."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.has_come = asyncio.Event()
        self.without_store = False
        for number in stop_signals():
            loop.add_signal_handler(number, self.has_come.set)

    def lose_store(self) -> None:
        self.without_store = True
        self.has_come.set()


def open_database(settings: Settings, loop: asyncio.AbstractEventLoop, lost: Lost) -> Database:
    """The database of a server: what its writer thread finishes comes back to the loop."""

    def committed(completions: Completions) -> None:
        db.recorder.committed(len(completions))
        deliver_inline(completions)

    deliver = deliver_in(loop, committed) if settings.data is not None else deliver_inline
    store = open_store(settings, deliver, lambda: call_in(loop, lost))
    db = build_database(store, settings, OffsetClock(SystemClock()) if settings.dev_clock else SystemClock())
    return db


async def open_door(
    db: Database, settings: Settings, sockets: Sequence[socket.socket], workers: WorkerBoard
) -> server.Server:
    """Take connections. The door and the handler behind it share their memory, and tell the workers' board."""
    memory = Memory.of(settings.door.memory_bytes_max)
    handler = build_handler(db, settings, memory, asyncio.get_running_loop().call_soon, workers.gauges)
    running = await server.serve(
        handler, sockets, settings=settings.door, ssl_context=settings.ssl_context, memory=memory
    )
    workers.watch(lambda: running.connection_count)
    return running


@contextlib.asynccontextmanager
async def running_beside(db: Database, workers: WorkerBoard, *, with_jobs: bool) -> AsyncIterator[None]:
    """All that goes on beside the requests. A job's step in a thread comes to its end before this does."""
    beside = [asyncio.create_task(each) for each in beside_requests(db, workers)]
    background = [asyncio.create_task(run_background(db))] if with_jobs else []
    try:
        yield
    finally:
        for task in (*beside, *background):
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)


class Others(Protocol):
    """The other processes of a server."""

    async def close(self) -> None: ...


Join = Callable[[server.Server, Callable[[], None]], Others]
"""Meets the other processes. What it calls in the end tells this one to stop."""


async def serve(
    settings: Settings,
    sockets: Sequence[socket.socket],
    *,
    with_jobs: bool,
    ready: Callable[[], None] = lambda: None,
    join: Join | None = None,
) -> None:
    """Serve until told to stop, then finish what was accepted. Calls `ready` when connections are taken. `join` has
    this process work together with others.

    Ends with `Unavailable` if the store is lost to this process.
    """
    loop = asyncio.get_running_loop()
    end = End(loop)
    db = open_database(settings, loop, end.lose_store)
    try:
        await settle(db)
        workers = WorkerBoard(db, settings.data)
        running = await open_door(db, settings, sockets, workers)
        async with running_beside(db, workers, with_jobs=with_jobs):
            ready()
            others = None if join is None else join(running, end.has_come.set)
            await end.has_come.wait()
            log.info("stopping: finishing what was accepted")
            await asyncio.gather(running.close(), *(() if others is None else (others.close(),)))
    finally:
        db.recorder.finish()
        await loop.run_in_executor(None, db.store.close)
    if end.without_store:
        raise Unavailable("The disk failed in the middle of a commit; only a new process can use the database.")
