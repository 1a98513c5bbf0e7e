"""What clients send comes into log lines, and must not get out of them."""

from __future__ import annotations

import logging
import sys

import orjson
import pytest

from hashrange.cli.logs import JsonFormatter, TextFormatter

TRICKS = [
    "a\r\n2026-01-01 forged",
    "\x1b]0;title\x07\x1b[2J",
    "\x9b31m",
    "a\u2028b",
    "\u202egnp.exe",
    "\x00",
    "\x85",
    "\ud800",
]


def record(message: str, *, failed: bool = False) -> logging.LogRecord:
    made = logging.LogRecord("hashrange.api", logging.ERROR, "", 0, "table %s", (message,), None)
    if failed:
        try:
            raise RuntimeError(message)
        except RuntimeError:
            made.exc_info = sys.exc_info()
    return made


@pytest.mark.parametrize("trick", TRICKS)
def test_a_line_stays_one_line_of_plain_text(trick: str) -> None:
    line = TextFormatter().format(record(trick))
    assert line.isprintable()
    assert orjson.loads(JsonFormatter().format(record(trick)))["message"].isprintable()


@pytest.mark.parametrize("trick", TRICKS)
def test_a_traceback_cannot_be_taken_for_other_lines(trick: str) -> None:
    first, *rest = TextFormatter().format(record(trick, failed=True)).split("\n")
    assert first.isprintable()
    assert all(line.startswith("  ") and line.isprintable() for line in rest)
    traceback = orjson.loads(JsonFormatter().format(record(trick, failed=True)))["traceback"]
    assert all(line.isprintable() for line in traceback.split("\n"))


def test_text_of_any_script_stays_as_it_is() -> None:
    assert "Größe 表 😀" in TextFormatter().format(record("Größe 表 😀"))
