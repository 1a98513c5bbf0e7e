"""`hashrange check`: walk the whole database and verify it, also beside a running server."""

from __future__ import annotations

import argparse
import sys
from itertools import chain

from hashrange.clock import SystemClock
from hashrange.engine.check import check
from hashrange.storage import LmdbStore


def run(arguments: argparse.Namespace) -> int:
    store = LmdbStore.open(arguments.data, read_only=True)
    try:
        found = 0
        with store.read() as snapshot:
            logical = check(snapshot, SystemClock().micros(), show_progress)
            for problem in chain(store.verify(), logical):
                found += 1
                print(f"\r{problem}")
    finally:
        store.close()
    hide_progress()
    print(f"{found} problems found." if found else "No problems found.")
    return 1 if found else 0


def show_progress(entries: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{entries:,} entries checked", end="", file=sys.stderr, flush=True)


def hide_progress() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
