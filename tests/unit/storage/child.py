"""What other processes do in the tests of the LMDB store: `python child.py <function> <arguments>`.

A child says things on its standard output, a line each, and may wait for a line on its standard input.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from pathlib import Path

from hashrange.storage import (
    CannotOpen,
    Durability,
    LmdbStore,
    Plan,
    Result,
    Snapshot,
    Unavailable,
    write_and_wait,
)
from hashrange.storage.compaction import compact_directory


def say(line: str) -> None:
    os.write(1, line.encode() + b"\n")


def increment(snapshot: Snapshot) -> Plan:
    value = int.from_bytes(snapshot.get(b"count") or b"", "little") + 1
    return Plan([(b"count", value.to_bytes(8, "little"))], adds=[(b"added", 1)], answer=value)


def write_until_killed(directory: str, durability: str) -> None:
    """Write numbered entries, many at a time, and say each number when it is acknowledged."""
    outstanding = threading.Semaphore(32)
    store = LmdbStore.open(directory, durability=Durability(durability))

    def plan(number: int) -> Plan:
        value = b"v" * (number % 3000)
        return Plan([(b"%08d" % number, value), (b"l" * 700 + b"%08d" % number, value)])

    def done(result: Result) -> None:
        say(str(result.unwrap()))
        outstanding.release()

    for number in range(1_000_000):
        outstanding.acquire()
        store.write(lambda _, number=number: Plan(plan(number).mutations, answer=number), done)


def increment_many(directory: str, times: str) -> None:
    store = LmdbStore.open(directory)
    for _ in range(int(times)):
        write_and_wait(store, increment)
    store.close()


def hold_open(directory: str) -> None:
    store = LmdbStore.open(directory)
    say("open")
    sys.stdin.readline()
    store.close()


def read_and_hold(directory: str) -> None:
    store = LmdbStore.open(directory)
    with store.read() as snapshot:
        snapshot.get(b"a")
        say("reading")
        sys.stdin.readline()


def limit_address_space(directory: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (48 * 1024**3, 48 * 1024**3))
    store = LmdbStore.open(directory)
    say(str(store.stats()["map_size_bytes"]))
    write_and_wait(store, increment)
    store.close()


def fill_the_disk(directory: str) -> None:
    """Write until the file may not grow any more, then go on when it may."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = LmdbStore.open(directory)
    write_and_wait(store, lambda _: Plan([(b"first", b"1")]))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, hard))
    written = 0
    try:
        while True:
            write_and_wait(store, lambda _, number=written: Plan([(b"%08d" % number, b"x" * 100_000)]))
            written += 1
    except Unavailable:
        say("unavailable")
    with store.read() as snapshot:
        say(f"{snapshot.get(b'first')!r} {sum(1 for _ in snapshot.scan(b'0', b'1')) == written}")
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    write_and_wait(store, lambda _: Plan([(b"last", b"x" * 1_000_000)]))
    say("written")
    store.close()


def compact_and_die(directory: str, moment: str) -> None:
    """Compact, but end without a trace right before or right after the new file takes its place."""
    replace = os.replace

    def die(source: Path, target: Path) -> None:
        if moment == "after":
            replace(source, target)
        os._exit(9)

    os.replace = die  # type: ignore[assignment]
    compact_directory(directory)


def compact(directory: str) -> None:
    try:
        say(str(compact_directory(directory)))
    except CannotOpen as error:
        say(str(error))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
