"""Runs deliveries beside the requests: looks for lanes with something to do, and lets each work in threads.

What reads the store runs in the loop's own pool of threads and is waited for, since the store must not be closed under
it. What waits for somebody else runs in a thread that is left behind when the server stops: the batch that it was
delivering was not kept as done, and is delivered again by the next server.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Hashable
from typing import TypeVar

from hashrange.engine.database import Database
from hashrange.jobs.carry_out import carry_out
from hashrange.jobs.deliveries import Lane, lanes
from hashrange.jobs.runner import RETRY_SECONDS
from hashrange.triggers.call import Functions

log = logging.getLogger("hashrange.jobs")

LOOK_SECONDS = 0.1  # how often new changes are looked for
Value = TypeVar("Value")


async def run_deliveries(db: Database) -> None:
    """Deliver until cancelled."""
    functions = Functions()
    runner = DeliveryRunner(db, functions)
    try:
        await runner.run()
    finally:
        functions.close()
        await runner.stop()


class DeliveryRunner:
    """Knows which lanes are at work, and which found nothing to do and need not be asked again yet."""

    def __init__(self, db: Database, functions: Functions) -> None:
        self._db = db
        self._functions = functions
        self._working: dict[Hashable, tuple[Lane, asyncio.Task[None]]] = {}
        self._resting: dict[Hashable, tuple[Hashable, int, int]] = {}  # state, last sequence number, until when
        self._finished = asyncio.Event()

    async def run(self) -> None:
        while True:
            try:
                self._start_due()
            except Exception:
                log.exception("deliveries cannot be looked for; trying again in %g s", RETRY_SECONDS)
                await asyncio.sleep(RETRY_SECONDS)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._finished.wait(), LOOK_SECONDS)
            self._finished.clear()

    async def stop(self) -> None:
        tasks = [task for _, task in self._working.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start_due(self) -> None:
        found, sequence = lanes(self._db, self._functions)
        now = self._db.clock.micros()
        divisions = {lane.group: lane.division for lane, _ in self._working.values()}
        self._resting = {lane.key: self._resting[lane.key] for lane in found if lane.key in self._resting}
        for lane in found:
            if lane.key in self._working or divisions.get(lane.group, lane.division) != lane.division:
                continue
            state, seen, until = self._resting.get(lane.key, (None, 0, 0))
            if state != lane.state or seen != sequence or now >= until:
                self._working[lane.key] = lane, asyncio.create_task(self._work(lane, sequence))

    async def _work(self, lane: Lane, sequence: int) -> None:
        """One piece of work. What is next is looked for afresh, for settings may have changed meanwhile."""
        try:
            work = await waited_for(lane.prepare)
            if isinstance(work, int):
                self._resting[lane.key] = lane.state, sequence, work
            else:
                await carry_out(self._db, work if callable(work) else await left_behind(work.send))
                self._finished.set()
        except Exception:
            log.exception("a delivery failed; trying again in %g s", RETRY_SECONDS)
            await asyncio.sleep(RETRY_SECONDS)
        finally:
            del self._working[lane.key]


async def waited_for(work: Callable[[], Value]) -> Value:
    """Run in a thread. Being cancelled means to wait for its end."""
    running = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise


async def left_behind(work: Callable[[], Value]) -> Value:
    """Run in a thread. Being cancelled means to forget it."""
    loop = asyncio.get_running_loop()
    finished: asyncio.Future[Value] = loop.create_future()

    def settle(value: Value | None, error: BaseException | None) -> None:
        if finished.done():
            return
        if error is None:
            finished.set_result(value)  # type: ignore[arg-type]
        else:
            finished.set_exception(error)

    def run() -> None:
        value, error = None, None
        try:
            value = work()
        except BaseException as caught:
            error = caught
        with contextlib.suppress(RuntimeError):  # the loop is gone, and so are those who waited
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, daemon=True, name="delivery").start()
    return await finished
