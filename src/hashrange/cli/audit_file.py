"""The file of the audit log."""

from __future__ import annotations

import logging
import os
import sys
from logging.handlers import WatchedFileHandler
from typing import Any

log = logging.getLogger("hashrange.server")


class AuditFile(WatchedFileHandler):
    """A file that others may not read. A file that is moved away by whoever rotates logs is made anew.

    The server goes on while it cannot be written; that is said once, and again after it could.
    """

    _failing = False

    def emit(self, record: logging.LogRecord) -> None:
        self._was_failing, self._failing = self._failing, False
        try:
            super().emit(record)
        except OSError:  # there is no directory any more to make it anew in, or no file descriptor
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:
        self._failing = True
        if not self._was_failing:
            log.error("the audit log %s cannot be written: %s", self.baseFilename, sys.exc_info()[1])

    def _open(self) -> Any:
        return open(self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors, opener=open_private)


def open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
