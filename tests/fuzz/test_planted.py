"""A fuzzer that finds nothing is worth something only if it would have: each is shown a server with a mistake in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fuzz import watch
from fuzz.run import TARGETS, fuzz
from hashrange.engine.counters import TableCounters
from hashrange.expressions import functions
from hashrange.http.connection import Connection
from hashrange.http.reader import Reader
from hashrange.operations.tags import untag_resource
from hashrange.partiql.parse_literal import LiteralParser
from hashrange.transfer import ion_reader

ROUNDS_MAX = 20


def failing(*arguments: Any, **members: Any) -> Any:
    raise LookupError("planted")


def forgetting(original: Callable[..., Any]) -> Callable[..., Any]:
    """Of several pieces of a body, only the last is kept."""

    def on_body(reader: Reader, piece: bytes) -> None:
        reader.body = b""
        original(reader, piece)

    return on_body


def spinning(*arguments: Any) -> Any:
    while True:
        pass


def found(target: str) -> str:
    """What a fuzzer finds first."""
    for number in range(ROUNDS_MAX):
        watch = fuzz(target, TARGETS[target], seed=0, seconds=0, first=number, rounds=1)
        if watch.findings:
            return "\n".join(watch.findings)
    return "nothing"


def test_a_body_in_pieces_that_is_not_joined_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reader, "on_body", forgetting(Reader.on_body))
    assert "cut into pieces" in found("wire")


def test_a_connection_that_is_never_closed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "look_after", lambda connection: None)
    assert "never closed" in found("wire")


def test_an_error_in_an_operation_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untag_resource, "OPERATION", replace(untag_resource.OPERATION, run=failing))
    assert "LookupError" in found("bodies")


def test_an_error_in_evaluating_an_expression_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_utf16_units", failing)
    assert "LookupError" in found("expressions")


def test_an_expression_that_never_ends_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_utf16_units", spinning)
    monkeypatch.setattr(watch, "HANG_SECONDS", 0.3)
    assert "hang" in found("expressions")


def test_an_error_in_a_grammar_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LiteralParser, "_set_literal", failing)
    assert "LookupError" in found("statements")


def test_a_counter_that_is_not_kept_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TableCounters, "maintain", lambda *arguments: None)
    assert "problems" in found("statements")


def test_an_error_in_a_reader_of_files_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ion_reader, "_character", failing)
    assert "LookupError" in found("files")
