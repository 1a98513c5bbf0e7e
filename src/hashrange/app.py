"""The one place where everything is wired together: a store, a database on it, and a door in front of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module

from hashrange.clock import Clock, OffsetClock, SystemClock
from hashrange.engine.change_log import ChangeLog
from hashrange.engine.clock_offset import clock_offset, reset
from hashrange.engine.counters import TableCounters
from hashrange.engine.database import Database, DatabaseSettings
from hashrange.engine.table import Table
from hashrange.errors import Wording
from hashrange.http import server
from hashrange.http.clock_control import CLOCK_URL, ClockControl, follow, keep_following, no_clock
from hashrange.http.dispatch import Dispatcher, Target
from hashrange.http.door import Settings as DoorSettings
from hashrange.http.rest import RestDoor
from hashrange.indexes.maintainer import index_maintainers
from hashrange.indexes.propagation import Propagation
from hashrange.jobs import propagate_indexes
from hashrange.jobs.carry_out import carry_out
from hashrange.operations import registry
from hashrange.storage import Completions, Deliver, Durability, LmdbStore, MemoryStore, Store, deliver_inline
from hashrange.ttl.queue import expiry_queue
from hashrange.validation.shape import load

log = logging.getLogger("hashrange.server")


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
    ssl_context: ssl.SSLContext | None = None
    dev_clock: bool = False  # whether time may be moved


def open_store(settings: Settings, deliver: Deliver = deliver_inline) -> Store:
    if settings.data is None:
        return MemoryStore(deliver)
    return LmdbStore.open(
        settings.data,
        durability=settings.durability,
        sync_interval_seconds=settings.sync_interval_seconds,
        deliver=deliver,
    )


def build_database(store: Store, settings: Settings, clock: Clock) -> Database:
    delay_micros = settings.database.index_delay_micros
    propagation = Propagation(delay_micros, clock) if delay_micros else None
    indexes = index_maintainers(propagation, settings.database.item_collection_bytes_max)

    def log(table: Table) -> ChangeLog | None:
        return ChangeLog(table, clock) if table.definition.is_logged else None

    return Database(store, clock, settings.database, (TableCounters, indexes, log, expiry_queue))


TARGETS = {"dynamodb": "DynamoDB_20120810", "dynamodbstreams": "DynamoDBStreams_20120810"}


def contents() -> dict[bytes, Callable[[], Target]]:
    """The operations by the value of the X-Amz-Target header that asks for them."""
    return {
        f"{TARGETS[registry.service_of(module)]}.{registry.name_of(module)}".encode(): partial(load_target, module)
        for module in registry.CONTENTS
    }


def load_target(module: str) -> Target:
    operation = registry.load(module)
    return Target(operation, load(operation.service)[operation.name])


def build_handler(db: Database, settings: Settings) -> Dispatcher:
    return Dispatcher(
        db,
        contents(),
        account=settings.account,
        region=settings.region,
        wording=settings.wording,
        controls={CLOCK_URL: ClockControl(db, db.clock) if isinstance(db.clock, OffsetClock) else no_clock},
        rest=RestDoor(db, registry.rest_operations),
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


def deliver_in(loop: asyncio.AbstractEventLoop) -> Deliver:
    """Hand finished writes to the loop's thread, a whole commit at a time."""

    def deliver(completions: Completions) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is gone, and so are those who waited
            loop.call_soon_threadsafe(deliver_inline, completions)

    return deliver


async def run_background(db: Database) -> None:
    """Jobs and deliveries, until cancelled. They are loaded beside the first requests, not before them."""
    loop = asyncio.get_running_loop()
    runner = await loop.run_in_executor(None, import_module, "hashrange.jobs.runner")
    deliveries = await loop.run_in_executor(None, import_module, "hashrange.jobs.delivery_runner")
    await asyncio.gather(runner.run_jobs(db), deliveries.run_deliveries(db))


async def serve(
    settings: Settings,
    sockets: Sequence[socket.socket],
    *,
    with_jobs: bool,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish what was accepted. Calls `ready` when connections are taken."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    store = open_store(settings, deliver_in(loop) if settings.data is not None else deliver_inline)
    clock = OffsetClock(SystemClock()) if settings.dev_clock else SystemClock()
    db = build_database(store, settings, clock)
    await settle_clock(db)
    if not settings.database.index_delay_micros:
        while (step := propagate_indexes.catch_up(db)) is not None:
            await carry_out(db, step)
    running = await server.serve(
        build_handler(db, settings), sockets, settings=settings.door, ssl_context=settings.ssl_context
    )
    background = asyncio.create_task(run_background(db)) if with_jobs else None
    following = asyncio.create_task(keep_following(db, clock)) if isinstance(clock, OffsetClock) else None
    try:
        ready()
        await stop.wait()
        log.info("stopping: finishing what was accepted")
        await running.close()
    finally:
        if following is not None:
            following.cancel()
        if background is not None:
            background.cancel()
            await asyncio.gather(background, return_exceptions=True)  # a step in a thread ends before the store closes
        await loop.run_in_executor(None, store.close)
