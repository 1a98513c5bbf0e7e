"""Runs background jobs beside the requests. The only part of the jobs that knows about an event loop."""

from __future__ import annotations

import asyncio
import logging

from hashrange.engine.database import Database
from hashrange.jobs import (
    evaluate_alarms,
    expire_items,
    export_tables,
    fill_copies,
    fill_indexes,
    forget_backups,
    forget_destinations,
    forget_tokens,
    grow_tables,
    load_items,
    note_metrics,
    propagate_indexes,
    remove_deleted,
    scale_tables,
    trim_insights,
    trim_log,
    trim_metrics,
)
from hashrange.jobs.carry_out import carry_out
from hashrange.jobs.job import IoStep, Job
from hashrange.storage.interface import Planner, StoreError

log = logging.getLogger("hashrange.jobs")

JOBS: tuple[Job, ...] = (
    remove_deleted.JOB,
    fill_indexes.JOB,
    forget_tokens.JOB,
    propagate_indexes.JOB,
    trim_log.JOB,
    expire_items.JOB,
    fill_copies.JOB,
    forget_backups.JOB,
    forget_destinations.JOB,
    export_tables.JOB,
    load_items.JOB,
    grow_tables.JOB,
    scale_tables.JOB,
    trim_insights.JOB,
    note_metrics.JOB,
    trim_metrics.JOB,
    evaluate_alarms.JOB,
)
RETRY_SECONDS = 5.0  # after a step that failed, for instance because the disk is full


async def run_jobs(db: Database) -> None:
    """Run the jobs until cancelled. Every step is one plan, so stopping between two of them is always safe."""
    await asyncio.gather(*(run_job(db, job) for job in JOBS))


async def run_job(db: Database, job: Job) -> None:
    while True:
        try:
            step = job.next_step(db)
            if isinstance(step, IoStep):
                await carry_out(db, await in_thread(step))
            elif step is not None:
                await carry_out(db, step)
            if step is not None:
                db.recorder.job_ran(job.name, failed=False)
            pause = 0.0 if step is not None else job.idle_seconds
        except Exception as error:
            db.recorder.job_ran(job.name, failed=True)
            surprise = None if isinstance(error, StoreError) else error  # what a disk does is no fault of the job
            log.error("job %s failed (%s); trying again in %g s", job.name, error, RETRY_SECONDS, exc_info=surprise)
            pause = RETRY_SECONDS
        await asyncio.sleep(pause)


async def in_thread(step: IoStep) -> Planner:
    """The plan of a step that may block. A thread cannot be stopped, so being cancelled means to wait for it: the
    store must not be closed under it."""
    running = asyncio.get_running_loop().run_in_executor(None, step.run)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
