"""What clients send comes into log lines, and must not get out of them."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from hashrange.cli.logs import JsonFormatter, LineFormatter, TextFormatter, configure_audit

AUDIT = logging.getLogger("hashrange.audit")

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


@pytest.mark.parametrize("trick", TRICKS[:-1])  # JSON cannot hold half a character
def test_a_line_that_is_json_stays_what_it_says_and_one_line_of_plain_text(trick: str) -> None:
    made = record("")
    made.msg, made.args = orjson.dumps({"name": trick}).decode(), ()
    line = LineFormatter().format(made)
    assert line.isprintable()
    assert orjson.loads(line) == {"name": trick}


@pytest.fixture
def audit_file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "logs" / "audit.log"
    path.parent.mkdir()
    configure_audit(str(path))
    yield path
    for handler in AUDIT.handlers:
        handler.close()
    AUDIT.handlers.clear()
    AUDIT.propagate = True


def test_only_the_owner_may_read_the_audit_log(audit_file: Path) -> None:
    AUDIT.info("one")
    audit_file.rename(audit_file.with_suffix(".old"))
    AUDIT.info("two")
    assert audit_file.with_suffix(".old").read_text() == "one\n"
    assert audit_file.read_text() == "two\n"
    assert audit_file.stat().st_mode & 0o777 == 0o600


def test_an_audit_log_that_cannot_be_written_is_told_once_and_written_again_later(
    audit_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    moved = audit_file.parent.rename(audit_file.parent.with_name("moved"))
    AUDIT.info("lost")
    AUDIT.info("lost too")
    moved.rename(audit_file.parent)
    AUDIT.info("found")
    assert audit_file.read_text() == "found\n"
    told = [entry.getMessage() for entry in caplog.records if entry.name == "hashrange.server"]
    assert len(told) == 1
    assert "audit.log cannot be written: " in told[0]
