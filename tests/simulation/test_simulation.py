"""Whatever the store, the clock and the scheduler do, the database holds what its model says."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from hashrange.backup.fill import Step
from hashrange.jobs import expire_items, fill_indexes, remove_deleted, trim_log
from hashrange.operations.transactions import transact_write_items
from hashrange.storage.memory import MemoryStore
from hashrange.streams import records
from simulation.world import run_world

SEEDS = 10
PARTS = 4
NOTICED_WITHIN_SEEDS = 80


@pytest.mark.parametrize("part", range(PARTS))
def test_a_simulated_world_agrees_with_its_model(part: int, seed: int | None) -> None:
    if seed is not None and part > 0:
        pytest.skip("one world is replayed, once")
    seeds = [Random().randrange(10**9) for _ in range(SEEDS)] if seed is None else [seed]
    counts: Counter[str] = Counter()
    for each in seeds:
        counts += run_world(each)
    assert counts["answers"] > 20 * len(seeds)


def test_a_seed_is_always_the_same_world() -> None:
    assert run_world(7) == run_world(7)


def broken_fill(patch: pytest.MonkeyPatch) -> None:
    """A backup that does not look at what changed since."""
    patch.setattr(Step, "_decide", lambda *arguments: None)


def broken_expiry(patch: pytest.MonkeyPatch) -> None:
    """Time to live that does not look at the item again."""
    patch.setattr(expire_items, "is_expired", lambda *arguments: True)


def broken_removal(patch: pytest.MonkeyPatch) -> None:
    """A deleted table whose items go while a backup is still made from them."""
    patch.setattr(remove_deleted, "sources", lambda snapshot: set())


def broken_trimming(patch: pytest.MonkeyPatch) -> None:
    """A log that is trimmed an hour too early."""
    real = records.trim_position
    patch.setattr(trim_log, "trim_position", lambda now: real(now + 3_600_000_000))


def broken_index(patch: pytest.MonkeyPatch) -> None:
    """A new index that is called complete before its last items are in it."""
    real = fill_indexes.fill

    def fill(db: Any, snapshot: Any, key: bytes) -> Any:
        plan = real(db, snapshot, key)
        return plan if len(plan.mutations) < 3 else real(db, EmptyItems(snapshot), key)

    patch.setattr(fill_indexes, "fill", fill)


class EmptyItems:
    """A snapshot in which nothing is found by scanning."""

    def __init__(self, snapshot: Any) -> None:
        self.get, self.get_many = snapshot.get, snapshot.get_many
        self.scan = lambda *arguments, **options: iter(())


def broken_tokens(patch: pytest.MonkeyPatch) -> None:
    """A transaction that happens again when it is sent again."""
    patch.setattr(transact_write_items, "was_carried_out", lambda *arguments: False)


def broken_store(patch: pytest.MonkeyPatch) -> None:
    """A store that now and then applies all of a plan but its last mutation."""
    real, random = MemoryStore._changes, Random(1)

    def changes(store: MemoryStore, plan: Any) -> Any:
        whole = real(store, plan)
        if len(whole) > 2 and random.random() < 0.1:
            whole.popitem()
        return whole

    patch.setattr(MemoryStore, "_changes", changes)


@pytest.mark.parametrize(
    "breakage",
    [broken_fill, broken_expiry, broken_removal, broken_trimming, broken_index, broken_tokens, broken_store],
    ids=lambda breakage: breakage.__name__,
)
def test_a_world_with_a_planted_mistake_does_not(breakage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    breakage(monkeypatch)
    for seed in range(NOTICED_WITHIN_SEEDS):
        try:
            run_world(seed)
        except AssertionError:
            return
    raise AssertionError("nobody noticed")
