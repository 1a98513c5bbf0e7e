"""The checkers see what they are there to see: histories with planted mistakes are refused, and right ones are not."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from consistency.history import FAILED, LOST, NEVER, OK, UNKNOWN, Operation, Transaction
from consistency.linearizability import is_linearizable, register
from consistency.serializability import anomalies


def op(start: float, end: float, kind: str, *arguments: Any, result: Any = None) -> Operation:
    return Operation(0, "key", kind, arguments, start, end, result)


def lost(start: float, kind: str, *arguments: Any) -> Operation:
    return Operation(0, "key", kind, arguments, start, NEVER, UNKNOWN)


@pytest.mark.parametrize(
    "history",
    [
        pytest.param([], id="nothing"),
        pytest.param([op(0, 1, "put", 1), op(2, 3, "get", result=1)], id="one after the other"),
        pytest.param([op(0, 9, "put", 1), op(1, 2, "get"), op(3, 4, "get", result=1)], id="while it is written"),
        pytest.param(
            [lost(0, "put", 1), op(1, 2, "get"), op(8, 9, "get", result=1)], id="a lost write that comes late"
        ),
        pytest.param([lost(0, "put", 1), op(1, 2, "get"), op(8, 9, "get")], id="a lost write that never comes"),
        pytest.param(
            [op(0, 5, "compare-and-set", None, 1, result=True), op(0, 5, "compare-and-set", None, 2, result=False)],
            id="one of two wins",
        ),
        pytest.param([op(0, 5, "replace", 1, result=2), op(0, 5, "replace", 2, result=None)], id="in the other order"),
    ],
)
def test_a_right_history_is_linearizable(history: list[Operation]) -> None:
    assert is_linearizable(history, register)


@pytest.mark.parametrize(
    "history",
    [
        pytest.param([op(0, 1, "put", 1), op(2, 3, "put", 2), op(4, 5, "get", result=1)], id="stale read"),
        pytest.param([op(0, 1, "put", 1), op(2, 3, "get", result=None)], id="lost write"),
        pytest.param([op(0, 9, "put", 1), op(1, 2, "get", result=1), op(3, 4, "get")], id="back in time"),
        pytest.param([op(0, 1, "get", result=7)], id="from nowhere"),
        pytest.param(
            [op(0, 5, "compare-and-set", None, 1, result=True), op(0, 5, "compare-and-set", None, 2, result=True)],
            id="lost update",
        ),
        pytest.param([op(0, 1, "put", 1), op(2, 3, "compare-and-set", 1, 2, result=False)], id="refused for nothing"),
        pytest.param(
            [lost(0, "put", 1), op(1, 2, "get", result=1), op(3, 4, "put", 2), op(5, 6, "get", result=1)],
            id="a lost write that happens twice",
        ),
        pytest.param([op(0, 5, "replace", 1), op(0, 5, "replace", 2), op(6, 7, "get", result=2)], id="two first ones"),
    ],
)
def test_a_wrong_history_is_not_linearizable(history: list[Operation]) -> None:
    assert not is_linearizable(history, register)


def random_history(random: Random, count: int) -> list[Operation]:
    """What clients of a correct register might record."""
    state: int | None = None
    history: list[Operation] = []
    for number in range(count):
        at, before, behind = number * 1.0, random.uniform(0, 4), random.uniform(0, 4)
        kind = random.choice(("get", "put", "replace", "compare-and-set"))
        arguments: tuple[Any, ...] = ()
        result: Any = None
        if kind == "get":
            result = state
        elif kind == "compare-and-set":
            arguments = (random.choice((state, None)), number)
            result = arguments[0] == state
            state = number if result else state
        else:
            arguments, result = (number,), state if kind == "replace" else None
            state = number
        is_lost = kind != "get" and random.random() < 0.02
        history.append(
            lost(at - before, kind, *arguments)
            if is_lost
            else op(at - before, at + behind, kind, *arguments, result=result)
        )
    return history


def test_long_histories_are_checked_quickly_and_one_wrong_answer_is_found() -> None:
    random = Random(1)
    for _ in range(20):
        history = random_history(random, 300)
        assert is_linearizable(history, register)
        wrong = random.choice([each for each in history if each.kind == "get"])
        wrong.result = 10_000
        assert not is_linearizable(history, register)


def transaction(number: int, start: float, end: float, *appends: tuple[str, int], **members: Any) -> Transaction:
    members.setdefault("status", OK)
    return Transaction(number, 0, start, end, appends=list(appends), **members)


def test_transactions_that_fit_are_serializable() -> None:
    history = [
        transaction(1, 0, 5, ("x", 1), ("y", 1)),
        transaction(2, 0, 5, ("x", 2), lengths={"y": 0}),
        transaction(3, 6, 7, reads={"x": [2, 1], "y": [1]}),
        transaction(4, 6, 9, ("y", 3), status=LOST),
        transaction(5, 6, 9, ("y", 4), status=FAILED),
    ]
    assert anomalies(history, {"x": [2, 1], "y": [1]}) == []
    assert anomalies(history, {"x": [2, 1], "y": [1, 3]}) == []


@pytest.mark.parametrize(
    ("history", "final"),
    [
        pytest.param([transaction(1, 0, 1, ("x", 1))], {"x": []}, id="lost write"),
        pytest.param([transaction(1, 0, 1, ("x", 1), ("y", 1), status=LOST)], {"x": [1], "y": []}, id="half there"),
        pytest.param([transaction(1, 0, 1, ("x", 1), status=FAILED)], {"x": [1]}, id="failed and happened"),
        pytest.param([transaction(1, 0, 1, ("x", 1))], {"x": [1, 1]}, id="happened twice"),
        pytest.param([transaction(1, 0, 1)], {"x": [1]}, id="from nowhere"),
        pytest.param(
            [transaction(1, 0, 9, ("x", 1), ("y", 1)), transaction(2, 0, 9, reads={"x": [1], "y": []})],
            {"x": [1], "y": [1]},
            id="half seen",
        ),
        pytest.param(
            [transaction(1, 0, 9, ("x", 1), lengths={"y": 0}), transaction(2, 0, 9, ("y", 1), lengths={"x": 0})],
            {"x": [1], "y": [1]},
            id="write skew",
        ),
        pytest.param(
            [transaction(1, 0, 9, ("x", 1), lengths={"x": 0}), transaction(2, 0, 9, ("x", 2), lengths={"x": 0})],
            {"x": [1, 2]},
            id="lost update",
        ),
        pytest.param(
            [transaction(1, 0, 1, ("x", 1)), transaction(2, 2, 3, reads={"x": []})], {"x": [1]}, id="stale read"
        ),
        pytest.param(
            [transaction(1, 0, 1, ("x", 1)), transaction(2, 2, 3, ("x", 2))], {"x": [2, 1]}, id="against the clock"
        ),
        pytest.param(
            [
                transaction(1, 0, 9, ("x", 1)),
                transaction(2, 0, 9, ("y", 1)),
                transaction(3, 0, 9, reads={"x": [1], "y": []}),
                transaction(4, 0, 9, reads={"x": [], "y": [1]}),
            ],
            {"x": [1], "y": [1]},
            id="two readers disagree",
        ),
        pytest.param(
            [transaction(1, 0, 1, ("x", 1)), transaction(2, 0, 1, reads={"x": [5]})], {"x": [1]}, id="never so"
        ),
    ],
)
def test_transactions_that_do_not_fit_are_refused(history: list[Transaction], final: dict[str, list[int]]) -> None:
    assert anomalies(history, final)
