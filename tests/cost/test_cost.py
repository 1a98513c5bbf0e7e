"""No request costs more than it did. Time is too noisy to tell; instructions and calls of the interpreter are not."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from cost.budget import VERSION, Budget, measured, recorded
from cost.counting import cost_of
from cost.requests import actions, prepared

TOLERANCE = 0.03
TOLERANCE_OF_ANOTHER_PYTHON = 0.3
HINT = "If that is meant: PYTHONPATH=src:tests python -m cost.budget"


@pytest.fixture(scope="module")
def now() -> Budget:
    return measured()


def excess(budget: Budget, found: Budget, tolerance: float) -> list[str]:
    """What costs more than it may, in words."""
    return [
        f"{name}: {was} {what} have become {now}, {now / was - 1:+.0%}"
        for name, cost in budget.items()
        for what in ("instructions", "calls")
        if (now := getattr(found[name], what)) > (was := getattr(cost, what)) * (1 + tolerance)
    ]


def test_no_request_costs_more_than_its_budget(now: Budget) -> None:
    version, budget = recorded()
    found = excess(budget, now, TOLERANCE if version == VERSION else TOLERANCE_OF_ANOTHER_PYTHON)
    assert found == [], HINT


def test_every_request_has_a_budget(now: Budget) -> None:
    assert set(recorded()[1]) == set(now), HINT


def test_no_request_leaves_anything_to_the_garbage_collector() -> None:
    left = {}
    gc.disable()
    try:
        for name, action in actions(prepared()).items():
            action()
            gc.collect()
            action()
            left[name] = gc.collect()
    finally:
        gc.enable()
    assert {name: count for name, count in left.items() if count} == {}


def repeating(times: int) -> Callable[[], object]:
    return lambda: [bin(number) for number in range(times)]


def test_the_same_work_costs_the_same_every_time() -> None:
    assert cost_of(repeating(100)) == cost_of(repeating(100))


def test_a_little_more_work_is_noticed_and_named() -> None:
    before, after = {"Work": cost_of(repeating(100))}, {"Work": cost_of(repeating(110))}
    assert [text.split(":")[0] for text in excess(before, after, TOLERANCE)] == ["Work", "Work"]
    assert excess(before, before, 0) == []
