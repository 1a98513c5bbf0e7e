"""`hashrange check`: walk the whole database and verify it, also beside a running server."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator

from hashrange.engine.check import check
from hashrange.engine.clock_offset import database_clock
from hashrange.storage import CannotOpen, Corruption, LmdbStore

SOUND, PROBLEMS_FOUND, CANNOT_CHECK = 0, 1, 2


def run(arguments: argparse.Namespace) -> int:
    """Walk in a process of its own where there are such: a file that is damaged badly, or cut short, ends the process
    that reads it, and that has to be told too."""
    if sys.platform == "win32":
        return walk(arguments.data)
    walker = os.fork()
    if walker == 0:
        walk_and_exit(arguments.data)
    code = os.waitstatus_to_exitcode(os.waitpid(walker, 0)[1])
    if code >= 0:
        return code
    hide_progress()
    print(f"The database file is damaged: reading it ended with {signal.Signals(-code).name}.")
    return PROBLEMS_FOUND


def walk_and_exit(data: str) -> None:
    status = PROBLEMS_FOUND
    try:
        status = walk(data)
    except CannotOpen as error:
        print(f"hashrange: {error}", file=sys.stderr)
        status = CANNOT_CHECK
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        os._exit(status)


def walk(data: str) -> int:
    store = LmdbStore.open(data, read_only=True)
    found = 0
    try:
        for problem in problems(store):
            found += 1
            hide_progress()
            print(problem, flush=True)  # the next page may be the one that ends us
    finally:
        store.close()
    hide_progress()
    print(f"{found} problem{'s' if found > 1 else ''} found." if found else "No problems found.")
    return PROBLEMS_FOUND if found else SOUND


def problems(store: LmdbStore) -> Iterator[str]:
    """What is wrong with the file, and then with what is kept in it."""
    yield from store.verify()
    try:
        with store.read() as snapshot:
            yield from check(snapshot, database_clock(snapshot).micros(), show_progress)
    except Corruption as error:
        yield f"{error}."


def show_progress(entries: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{entries:,} entries checked", end="", file=sys.stderr, flush=True)


def hide_progress() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
