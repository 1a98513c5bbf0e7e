"""A disk that fails when it is told to: the test's side of faults.c, which is compiled where there is a compiler."""

from __future__ import annotations

import atexit
import errno
import functools
import mmap
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from pathlib import Path
from random import Random

import pytest

SOURCE = Path(__file__).with_name("faults.c")
CONTROL = struct.Struct("<6i")
ENTRY = struct.Struct("<cqq")
SECTOR_BYTES = 512  # a disk writes a sector whole or not at all
FOREVER = 2**30


class Action(IntEnum):
    NOTHING = 0
    FAIL = 1
    SHORT = 2  # half of the first piece is written, and no more
    DIE_BEFORE = 3
    DIE_AFTER = 4


class Calls(IntFlag):
    WRITES = 1
    SYNCS = 2
    ROOTS = 4  # the page that points to the root, the last write of a commit
    ALL = 7


@functools.cache
def library() -> Path | None:
    """The compiled library; None where it cannot be made."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not Path("/proc/self/fd").exists():
        return None
    directory = Path(tempfile.mkdtemp(prefix="hashrange-faults-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    target = directory / "faults.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(target), str(SOURCE)]
    done = subprocess.run(command, capture_output=True, check=False)
    return target if done.returncode == 0 else None


def require_library() -> Path:
    found = library()
    if found is None:
        pytest.skip("needs Linux and a C compiler")
    return found


class Disk:
    """The disk under one server. `environment` goes to the server; the rest may be called while it runs."""

    def __init__(self, directory: Path, *, journal: bool = False) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        control = directory / "control"
        control.write_bytes(bytes(CONTROL.size))
        self._file = control.open("r+b")
        self._block = mmap.mmap(self._file.fileno(), CONTROL.size)
        self.journal = directory / "journal"
        self.environment = {"LD_PRELOAD": str(require_library()), "DISK_CONTROL": str(control)}
        if journal:
            self.environment["DISK_JOURNAL"] = str(self.journal)

    def fault(
        self, action: Action, calls: Calls, *, error: int = errno.EIO, skip: int = 0, times: int = FOREVER
    ) -> None:
        """From now on, let `skip` of these calls through and do this to the next ones."""
        self._block[:] = CONTROL.pack(Action.NOTHING, 0, 0, 0, 0, 0)
        self._block[4:] = CONTROL.pack(action, calls, error, skip, times, 0)[4:]
        self._block[:4] = struct.pack("<i", action)  # at last, when the rest is in place

    def heal(self) -> None:
        self._block[:4] = struct.pack("<i", Action.NOTHING)

    @property
    def hits(self) -> int:
        hits: int = CONTROL.unpack(self._block[:])[5]
        return hits

    def written(self) -> int:
        """How long the journal is: a moment in the life of the disk."""
        return self.journal.stat().st_size


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the journal. `ends_at` is where in the journal it ends."""

    kind: bytes  # w a write, r a write that syncs itself, d the end of one, s the end of a sync
    offset: int
    data: bytes
    ends_at: int


def read_journal(path: Path) -> Iterator[Event]:
    whole = path.read_bytes()
    at = 0
    while at + ENTRY.size <= len(whole):
        kind, offset, length = ENTRY.unpack_from(whole, at)
        start = at + ENTRY.size
        at = start + length
        yield Event(kind, offset, whole[start:at], at)


class Platter:
    """What a disk that loses its power leaves: all that was synced, and of the rest whatever it pleases."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.pending: list[Event] = []
        self._root: Event | None = None

    def take(self, event: Event) -> None:
        if event.kind == b"w":
            self.pending.append(event)
        elif event.kind == b"r":
            self._root = event
            self.pending.append(event)
        elif event.kind == b"s":
            for each in self.pending:
                apply(self.content, each.offset, each.data)
            self.pending.clear()
        elif self._root is not None:  # that write is on the disk, and others may not be
            apply(self.content, self._root.offset, self._root.data)
            self.pending.remove(self._root)
            self._root = None

    def after_power_cut(self, random: Random) -> bytes:
        """Any of the pending writes have arrived, each whole or in part."""
        content = bytearray(self.content)
        chance = random.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        for event in (event for event in self.pending if random.random() < chance):
            for offset, sector in sectors(event):
                if chance == 1.0 or random.random() < 0.8:
                    apply(content, offset, sector)
        return bytes(content)


def sectors(event: Event) -> Iterator[tuple[int, bytes]]:
    """The pieces of a write that arrive whole or not at all."""
    at = 0
    while at < len(event.data):
        size = SECTOR_BYTES - (event.offset + at) % SECTOR_BYTES
        yield event.offset + at, event.data[at : at + size]
        at += size


def apply(content: bytearray, offset: int, data: bytes) -> None:
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data
