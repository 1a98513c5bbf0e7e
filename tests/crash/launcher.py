"""Runs a command of `hashrange` in a process that kills itself (SIGKILL) at a chosen point. For tests only.

    python -m crash.launcher '{"where": "after", "whose": "any", "nth": 40, "fuse": "/a", "marker": "/b"}' serve ...

`whose` plan the point belongs to: "any", "job", or the name of a background job; `nth` says which of them. `where`:

    plan      the plan has been run, its changes are in the open transaction
    before    the whole group has been run, and the commit would begin now
    inside    some microseconds later, most often inside the commit
    after     the commit is over, and nobody has heard of it

For `compact` there are "copy" (some microseconds into it), "sync", "replace" and "end". Plans count from the moment
when the file `fuse` is there. It happens once: the first process to come there makes the marker, and its successors
see it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, NoReturn

import orjson

from hashrange.cli.main import main
from hashrange.storage import files
from hashrange.storage.writer import Group

ANY_JOB, REQUEST = "job", "request"
INSIDE_SECONDS = (0.0, 0.0005, 0.002, 0.006)


class Bomb:
    """Goes off once for all processes."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.where: str = settings["where"]
        self.whose: str = settings.get("whose", "any")
        self._left: int = settings.get("nth", 1)
        self._marker: str = settings["marker"]
        self._fuse: str | None = settings.get("fuse")
        self._random = Random()

    def is_due(self, whose: str) -> bool:
        """Count a plan, and tell whether it is the one."""
        is_mine = self.whose in ("any", whose) or (self.whose == ANY_JOB and whose != REQUEST)
        if not is_mine or not self._is_lit():
            return False
        self._left -= 1
        return self._left == 0

    def _is_lit(self) -> bool:
        if self._fuse is not None and os.path.exists(self._fuse):
            self._fuse = None
        return self._fuse is None

    def go_off(self) -> None:
        try:
            os.close(os.open(self._marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        self._die()

    def go_off_soon(self) -> None:
        seconds = self._random.uniform(0, self._random.choice(INSIDE_SECONDS))

        def wait() -> None:
            time.sleep(seconds)
            self.go_off()

        threading.Thread(target=wait, daemon=True).start()

    def _die(self) -> NoReturn:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("still there")


class JobPlan:
    """A plan that knows which job it comes from."""

    def __init__(self, name: str, plan: Callable[[Any], Any]) -> None:
        self.name = name
        self._plan = plan

    def __call__(self, snapshot: Any) -> Any:
        return self._plan(snapshot)


def lay_in_writer(bomb: Bomb) -> None:
    run_plan, run, completions = Group._run_plan, Group.run, Group.completions
    due: set[int] = set()  # the group that it is due in

    def counting_run_plan(group: Group, planner: Any, *rest: Any) -> Any:
        result = run_plan(group, planner, *rest)
        if bomb.is_due(planner.name if isinstance(planner, JobPlan) else REQUEST):
            due.add(id(group))
            if bomb.where == "plan":
                bomb.go_off()
        return result

    def dying_run(group: Group, *rest: Any) -> None:
        run(group, *rest)
        if id(group) in due and bomb.where == "before":
            bomb.go_off()
        if id(group) in due and bomb.where == "inside":
            bomb.go_off_soon()

    def dying_completions(group: Group) -> Any:
        if id(group) in due and bomb.where == "after":
            bomb.go_off()
        return completions(group)

    Group._run_plan = counting_run_plan  # type: ignore[assignment, method-assign]
    Group.run = dying_run  # type: ignore[assignment, method-assign]
    Group.completions = dying_completions  # type: ignore[assignment, method-assign]


def mark_jobs() -> None:
    from hashrange.jobs import runner

    def marked(job: Any) -> Any:
        def next_step(db: Any) -> Any:
            step = job.next_step(db)
            return JobPlan(job.name, step) if callable(step) else step

        return replace(job, next_step=next_step)

    runner.JOBS = tuple(marked(job) for job in runner.JOBS)


def lay_in_compaction(bomb: Bomb) -> None:
    write, sync, move = files.write_data_file, os.fsync, os.replace

    def dying_write(*arguments: Any) -> None:
        if bomb.where == "copy":
            bomb.go_off_soon()
        write(*arguments)
        if bomb.where == "end":
            bomb.go_off()

    def dying_sync(descriptor: int) -> None:
        if bomb.where == "sync":
            bomb.go_off()
        sync(descriptor)

    def dying_replace(*arguments: Any) -> None:
        if bomb.where == "replace":
            bomb.go_off()
        move(*arguments)

    files.write_data_file = dying_write  # type: ignore[assignment]
    os.fsync = dying_sync  # type: ignore[assignment]
    os.replace = dying_replace  # type: ignore[assignment]


if __name__ == "__main__":
    bomb = Bomb(orjson.loads(sys.argv[1]))
    if sys.argv[2] == "serve":
        lay_in_writer(bomb)
        if bomb.whose != "any":
            mark_jobs()
    else:
        lay_in_compaction(bomb)
    sys.exit(main(sys.argv[2:]))
