"""A background job: a bounded step, repeated. No job knows about threads, loops or the time of day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hashrange.engine.database import Database
from hashrange.storage.interface import Planner

Step = Planner | None
"""The next piece of work as a plan, or None when there is nothing to do for now."""


@dataclass(frozen=True, slots=True)
class Job:
    """`next_step` looks for work; the runner carries the plan out and asks again."""

    name: str
    next_step: Callable[[Database], Step]
    idle_seconds: float = 0.25  # how long to wait before looking again when there was nothing to do
