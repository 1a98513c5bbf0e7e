"""Log lines, as text for people or as JSON for machines. Both carry the request id where there is one."""

from __future__ import annotations

import logging
import re
import sys
from datetime import UTC, datetime

import orjson

from hashrange.cli.options import ConfigurationError

log = logging.getLogger("hashrange.server")

CONTEXT = ("request_id", "peer", "ms", "worker")

# What may come from a client and would not stay in its line, or not on paper: control characters (a terminal obeys
# them), separators that some readers take for the end of a line, marks that turn text around, halves of characters.
UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def context_of(record: logging.LogRecord) -> dict[str, object]:
    return {name: getattr(record, name) for name in CONTEXT if hasattr(record, name)}


def timestamp(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def safe(text: str) -> str:
    """A text that is one line, and only text, whoever wrote it."""
    return UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class TextFormatter(logging.Formatter):
    """A line is a line: nothing that a client sent may look like another one. Those of a traceback are indented."""

    def format(self, record: logging.LogRecord) -> str:
        context = "".join(f" {name}={value}" for name, value in context_of(record).items())
        line = f"{timestamp(record)} {record.levelname.lower():7} {record.name} {safe(record.getMessage() + context)}"
        if record.exc_info:
            traceback = self.formatException(record.exc_info).splitlines()
            line += "".join(f"\n  {safe(each)}" for each in traceback)
        return line


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": timestamp(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": safe(record.getMessage()),
            **context_of(record),
        }
        if record.exc_info:
            line["traceback"] = "\n".join(map(safe, self.formatException(record.exc_info).splitlines()))
        return orjson.dumps(line, default=str).decode()


class LineFormatter(logging.Formatter):
    """Lines that are JSON already. JSON lets characters stay as they are that are no good in a line."""

    def format(self, record: logging.LogRecord) -> str:
        return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", record.getMessage())


def configure_audit(path: str) -> None:
    """Open the audit log."""
    from hashrange.cli.audit_file import AuditFile  # which loads what servers without one need not wait for

    try:
        handler = logging.StreamHandler(sys.stderr) if path == "-" else AuditFile(path, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"The audit log {path} cannot be written: {error.strerror}.") from None
    handler.setFormatter(LineFormatter())
    logger = logging.getLogger("hashrange.audit")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False


def configure(level: str, style: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    root = logging.getLogger("hashrange")
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    root.propagate = False
