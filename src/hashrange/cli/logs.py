"""Log lines, as text for people or as JSON for machines. Both carry the request id where there is one."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime

import orjson

CONTEXT = ("request_id", "peer", "ms", "worker")


def context_of(record: logging.LogRecord) -> dict[str, object]:
    return {name: getattr(record, name) for name in CONTEXT if hasattr(record, name)}


def timestamp(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # A line is a line: nothing that a client sent may look like another one.
        message = record.getMessage().replace("\r", "\\r").replace("\n", "\\n")
        context = "".join(f" {name}={value}" for name, value in context_of(record).items())
        line = f"{timestamp(record)} {record.levelname.lower():7} {record.name} {message}{context}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": timestamp(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **context_of(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


def configure(level: str, style: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    root = logging.getLogger("hashrange")
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    root.propagate = False
