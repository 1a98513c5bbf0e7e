"""A background job: a bounded step, repeated. No job knows about threads, loops or the time of day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hashrange.engine.database import Database
from hashrange.storage.interface import Planner


@dataclass(frozen=True, slots=True)
class IoStep:
    """Work that reads or writes outside the store before it knows its plan.

    `run` may block, so the runner calls it in a thread of its own; the plan that it returns is carried out afterwards.
    Nothing holds the world still in between: the plan checks that what `run` saw is still so.
    """

    run: Callable[[], Planner]


Step = Planner | IoStep | None
"""The next piece of work as a plan, or None when there is nothing to do for now."""


@dataclass(frozen=True, slots=True)
class Job:
    """`next_step` looks for work; the runner carries the plan out and asks again."""

    name: str
    next_step: Callable[[Database], Step]
    idle_seconds: float = 0.25  # how long to wait before looking again when there was nothing to do
