"""Syncing every so often, for the durability that answers before the disk has it."""

from __future__ import annotations

import logging
import threading

import lmdb

logger = logging.getLogger(__name__)


class PeriodicSync:
    """A thread that syncs an environment whenever something was committed since it did so last."""

    def __init__(self, environment: lmdb.Environment, interval_seconds: float) -> None:
        self._environment = environment
        self._interval_seconds = interval_seconds
        self._synced_transaction = -1
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="hashrange-sync", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join()

    def _loop(self) -> None:
        while not self._closing.wait(self._interval_seconds):
            committed = self._environment.info()["last_txnid"]
            if committed == self._synced_transaction:
                continue
            try:
                self._environment.sync(True)
                self._synced_transaction = committed
            except lmdb.Error as error:
                logger.error("the disk could not be synced; trying again: %s", error)
