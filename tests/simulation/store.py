"""A store whose commits happen when a scheduler says so: late, in any order, in groups, or not at all.

It keeps the promises of `storage/interface.py` and uses all the freedom that these leave: plans take effect in some
order, whole groups of them fail, results arrive long after the commit, and a crash loses whatever was not committed and
every answer that was still on its way.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from random import Random
from typing import Any

from hashrange.storage import Done, Planner, Result, Snapshot, Unavailable
from hashrange.storage.memory import MemoryStore

Effect = Callable[[Result], None]


@dataclass(slots=True)
class Waiting:
    """A plan that nobody has run yet. `effect` is told what it did, at the moment when it did it."""

    plan: Planner
    done: Done
    effect: Effect


class SimulatedStore:
    def __init__(self, random: Random) -> None:
        self.waiting: list[Waiting] = []
        self.finished: list[tuple[Done, Result]] = []
        self.effect: Effect = lambda result: None  # of the next plan to be submitted
        self.commits = 0
        self.failures = 0
        self._random = random
        self._memory = MemoryStore()

    def read(self) -> AbstractContextManager[Snapshot]:
        return self._memory.read()

    def write(self, plan: Planner, done: Done) -> None:
        self.waiting.append(Waiting(plan, done, self.effect))

    def close(self) -> None:
        pass

    def commit(self, before_each: Callable[[], None], *, fails: bool = False) -> None:
        """Run some of the waiting plans, in any order, as one group."""
        count = min(len(self.waiting), self._random.choice((1, 1, 2, 5, 100)))
        group = self._random.sample(self.waiting, count)
        self.waiting = [each for each in self.waiting if each not in group]
        if fails:
            self._fail(group)
            return
        for each in group:
            before_each()
            result = self._run(each.plan)
            each.effect(result)
            self.finished.append((each.done, result))
        self.commits += bool(group)

    def _fail(self, group: list[Waiting]) -> None:
        """Run them all, keep nothing, and say so."""
        before = dict(self._memory._data)
        for each in group:
            self._run(each.plan)
            self.finished.append((each.done, Result(error=Unavailable("The disk failed."))))
        self._memory._data.clear()
        self._memory._data.update(before)
        self._memory._keys.clear()
        self._memory._keys.update(before)
        self.failures += bool(group)

    def _run(self, plan: Planner) -> Result:
        results: list[Result] = []
        self._memory.write(plan, results.append)
        [result] = results
        return result

    def deliver(self, *, everything: bool = False) -> None:
        """Hand over some of the results."""
        count = len(self.finished) if everything else self._random.randint(0, len(self.finished))
        arrived, self.finished = self.finished[:count], self.finished[count:]
        for done, result in arrived:
            done(result)

    def crash(self) -> None:
        """What was committed stays; what was waiting never happens; nobody hears of anything."""
        self.waiting.clear()
        self.finished.clear()

    def content(self) -> dict[bytes, Any]:
        return dict(self._memory._data)
