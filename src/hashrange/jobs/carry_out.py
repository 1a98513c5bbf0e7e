"""Waiting for a plan from inside an event loop."""

from __future__ import annotations

import asyncio

from hashrange.engine.database import Database
from hashrange.storage.interface import Planner, Result


async def carry_out(db: Database, plan: Planner) -> None:
    finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def done(result: Result) -> None:
        if finished.done():
            return
        if result.error is None:
            finished.set_result(None)
        else:
            finished.set_exception(result.error)

    db.store.write(plan, done)
    await finished
