"""Expressions made to hurt: each is refused, or works, in bounded time and without deep recursion."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from hashrange.errors import ValidationException
from hashrange.expressions import prepare
from hashrange.expressions.reserved import reserved_words
from hashrange.expressions.tokens import KEYWORDS

ONE = {":v": {"N": "1"}}


@pytest.fixture(autouse=True)
def _little_stack_and_time() -> Iterator[None]:
    """Leave room for about 500 frames, as if a server had used up the rest."""
    limit = sys.getrecursionlimit()
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    started = time.perf_counter()
    sys.setrecursionlimit(depth + 500)
    yield
    sys.setrecursionlimit(limit)
    assert time.perf_counter() - started < 2


def refusal(**request: Any) -> str:
    with pytest.raises(ValidationException) as refused:
        prepare(**request)
    return refused.value.message or ""


def holds(condition: str, item: Any) -> bool:
    ready = prepare(condition=condition, values={":v": {"N": "1"}})
    assert ready.condition is not None
    return ready.condition(item, ready.values)


@pytest.mark.parametrize(
    ("parameter", "kind", "tail"),
    [
        ("condition", "ConditionExpression", " expression size: 4097"),
        ("filter", "FilterExpression", " expression size: 4097"),
        ("key_condition", "KeyConditionExpression", " expression size: 4097"),
        ("projection", "ProjectionExpression", " expression size: 4097"),
        ("update", "UpdateExpression", ""),
    ],
)
def test_an_expression_has_at_most_4096_bytes(parameter: str, kind: str, tail: str) -> None:
    text = f"Invalid {kind}: Expression size has exceeded the maximum allowed size;{tail}"
    assert refusal(**{parameter: "(" * 4097}) == text
    assert refusal(**{parameter: "é" * 2048 + "e"}) == text
    assert "Syntax error" in refusal(**{parameter: "é" * 2048})


@pytest.mark.parametrize(
    ("condition", "error"),
    [
        ("(" * 4096, 'Syntax error; token: "<EOF>", near: "("'),
        ("NOT " * 1000, 'Syntax error; token: "<EOF>", near: "NOT"'),
        ("size(" * 800, 'Syntax error; token: "<EOF>", near: "("'),
        ("(" * 2000 + "a=:v" + ")" * 2000, "The expression has redundant parentheses;"),
        ("a=" + "(" * 2000 + ":v" + ")" * 2000, "The expression has redundant parentheses;"),
        ("NOT " * 1000 + "a=:v", "The expression contains too many operators; operator count: 1001"),
        ("(a=:v OR " * 300 + "a=:v" + ")" * 300, "The expression contains too many operators; operator count: 601"),
        (" OR ".join(["a=:v"] * 151), "The expression contains too many operators; operator count: 301"),
        (
            "size(" * 600 + "a" + ")" * 600 + "=:v",
            "The function is not allowed to be used this way in an expression; function: size",
        ),
        ("f(" * 1300 + "a" + ")" * 1300, "Invalid function name; function: f"),
        (
            "a IN (" + ",".join([":v"] * 1300) + ")",
            "Incorrect number of operands for operator or function; operator or function: IN, number of operands: 1301",
        ),
        (".".join("a" * 2000) + "=:v", "The document path has too many nesting levels; nesting levels: 2000"),
        ("a[" + "9" * 4000 + "]=:v", f"List index is not within the allowable range; index: [{'9' * 4000}]"),
    ],
)
def test_a_condition_that_is_too_much_is_refused(condition: str, error: str) -> None:
    assert refusal(condition=condition, values=ONE) == f"Invalid ConditionExpression: {error}"


def test_300_operators_work_however_they_are_nested() -> None:
    item = {"a": {"N": "1"}}
    assert holds(" OR ".join(["a=:v"] * 150), item)
    assert holds("NOT " * 298 + "a=:v", item)
    assert not holds("NOT " * 299 + "a=:v", item)
    assert holds("(a<>:v OR (a=:v AND " * 74 + "a=:v" + "))" * 74, item)


def test_100_operands_of_in_are_the_most() -> None:
    names = [f":v{number}" for number in range(100)]
    values = {name: {"N": str(number)} for number, name in enumerate(names)}
    assert "number of operands: 101" in refusal(condition=f"a IN ({','.join(names)})", values=values)
    del values[":v0"]
    ready = prepare(condition=f"a IN ({','.join(names[1:])})", values=values)
    assert ready.condition is not None
    assert ready.condition({"a": {"N": "99"}}, ready.values)


def test_functions_of_an_update_nest_as_deep_as_they_fit() -> None:
    depth = 220
    update = "SET z=" + "if_not_exists(a," * depth + ":v" + ")" * depth
    ready = prepare(update=update, values=ONE)
    assert ready.update is not None
    assert ready.update.apply({}, ready.values, exists=True) == {"z": {"N": "1"}}


@pytest.mark.parametrize(
    ("update", "error"),
    [
        ("SET a=" + "(" * 4000, 'Syntax error; token: "<EOF>", near: "("'),
        ("SET a=" + "(" * 2000 + ":v" + ")" * 2000, "The expression has redundant parentheses;"),
        ("SET a=" + "f(" * 1300 + ":v" + ")" * 1300, "Invalid function name; function: f"),
        ("SET " + ",".join(f"a{number}=b+:v" for number in range(301)), "too many operators; operator count: 301"),
        ("REMOVE " + ",".join(["a"] * 2000), "path one: [a], path two: [a]"),
    ],
)
def test_an_update_that_is_too_much_is_refused(update: str, error: str) -> None:
    text = refusal(update=update, values=ONE)
    assert text.startswith("Invalid UpdateExpression: ")
    assert text.endswith(error)


def test_a_projection_of_many_paths_is_compared_quickly() -> None:
    paths = [f"a{number}" for number in range(680)]
    ready = prepare(projection=",".join(paths))
    assert ready.projection is not None
    assert ready.projection.top_level_names == tuple(paths)
    assert "path one: [a7], path two: [a7]" in refusal(projection=",".join([*paths, "a7"]))


def test_all_573_reserved_words_are_refused_in_any_case() -> None:
    words = reserved_words()
    assert len(words) == 573
    for word in words - KEYWORDS:
        expected = (
            f"Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: {word.lower()}"
        )
        assert refusal(projection=f"a.{word.lower()}") == expected
    for word in KEYWORDS:
        assert "Syntax error" in refusal(projection=f"a.{word.lower()}")
