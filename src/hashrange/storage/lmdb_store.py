"""The default store: one LMDB database in one directory, shared by any number of processes.

LMDB is a memory-mapped B+tree with copy-on-write pages. Readers look at the pages in the page cache, without copies
and without waiting for anybody; there is one writer at a time, across all processes. A commit writes new pages, syncs
them, and then replaces one page that points to the new root, so there is no log and nothing to recover after a crash.

A store must be opened after its process was forked, and once in a process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import lmdb

from hashrange.storage import files
from hashrange.storage.environment import FORMAT_KEY, check_format, open_environment
from hashrange.storage.interface import (
    CannotOpen,
    Completions,
    Deliver,
    Done,
    Lost,
    Planner,
    Result,
    Unavailable,
    deliver_inline,
)
from hashrange.storage.lmdb_snapshot import ReadSnapshot, as_store_error
from hashrange.storage.periodic_sync import PeriodicSync
from hashrange.storage.verify import problems
from hashrange.storage.writer import Writer

MAP_SIZE_BYTES = 1024**4  # the file is as large as what is in it; only addresses are taken


class Durability(StrEnum):
    """When a write is answered. The death of the process, even by kill -9, loses nothing in any of them, because
    what is committed is with the operating system. They differ when the machine itself stops.

    `sync`: after the disk has it. A power cut loses nothing that was answered.
    `relaxed`: before; the disk is synced every so often. A power cut loses what was written since. It may also damage
    the database if the file system writes pages in another order than they were given, as most do.
    `none`: the same, but the operating system alone decides when to write, until the store is closed.
    """

    SYNC = "sync"
    RELAXED = "relaxed"
    NONE = "none"


class LmdbStore:
    """An open database. Made by `open`; closed once."""

    def __init__(
        self,
        environment: lmdb.Environment,
        use: files.UseLock,
        *,
        durability: Durability,
        sync_interval_seconds: float,
        deliver: Deliver,
        lost: Lost,
    ) -> None:
        self._environment = environment
        self._use = use
        self._deliver = deliver
        self._durability = durability
        self._read_only = environment.flags()["readonly"]
        self._writer = None if self._read_only else Writer(environment, deliver, lost)
        relaxed = durability is Durability.RELAXED and not self._read_only
        self._sync = PeriodicSync(environment, sync_interval_seconds) if relaxed else None
        self._closed = False

    @classmethod
    def open(
        cls,
        directory: str | os.PathLike[str],
        *,
        durability: Durability = Durability.SYNC,
        sync_interval_seconds: float = 0.1,
        map_size: int = MAP_SIZE_BYTES,
        deliver: Deliver = deliver_inline,
        lost: Lost = lambda: None,
        read_only: bool = False,
    ) -> LmdbStore:
        """Open the database in `directory`, and make it if there is none.

        Raises `CannotOpen`, having changed nothing, if the directory cannot be written, holds something else, or was
        written by a newer version. With `read_only` the database must exist, and may be in use by a server.
        """
        path = Path(directory)
        exists = files.look(path)
        if exists:
            check_format(path)
        if read_only and not exists:
            raise CannotOpen(f"There is no Hashrange database in {path}.")
        if not read_only:
            files.require_writable(path)
            files.create_directory(path)
        use = files.UseLock(path, exclusive=False, read_only=read_only)
        try:
            if not read_only:
                files.discard_partial(path)
            environment = open_environment(
                path, map_size=map_size, sync=durability is Durability.SYNC, read_only=read_only
            )
        except BaseException:
            use.release()
            raise
        return cls(
            environment,
            use,
            durability=durability,
            sync_interval_seconds=sync_interval_seconds,
            deliver=deliver,
            lost=lost,
        )

    def read(self) -> ReadSnapshot:
        return ReadSnapshot(self._environment)

    def write(self, plan: Planner, done: Done) -> None:
        if self._writer is not None and self._writer.submit(plan, done):
            return
        reason = "The store is open for reading only." if self._read_only else "The store is closed."
        refused: Completions = [(done, Result(error=Unavailable(reason)))]
        self._deliver(refused)

    def close(self) -> None:
        """Finish what was accepted, sync it whatever the durability, and let go of the files."""
        if self._closed:
            return
        self._closed = True
        if self._writer is not None:
            self._writer.close()
        if self._sync is not None:
            self._sync.close()
        try:
            if not self._read_only and self._durability is not Durability.SYNC:
                self._environment.sync(True)
        except lmdb.Error as error:
            raise as_store_error(error) from error
        finally:
            self._environment.close()
            self._use.release()

    def copy_to(self, directory: str | os.PathLike[str], *, compact: bool = True) -> None:
        """Write a consistent copy into a directory that is empty or missing, beside running readers and writers.

        Pages that the copy still has to read are kept meanwhile, so the file grows if much is written during it.
        """
        target = Path(directory)
        if files.look(target):
            raise CannotOpen(f"There is a database in {target} already.")
        files.create_directory(target)
        try:
            files.write_data_file(target, lambda _, descriptor: self._environment.copyfd(descriptor, compact))
        except (lmdb.Error, OSError) as error:
            raise as_store_error(error) from error

    def verify(self) -> Iterator[str]:
        """Walk everything that is stored and yield a sentence for each problem. Nothing yielded: all is well."""
        with self._environment.begin() as transaction:
            yield from problems(transaction, frozenset({FORMAT_KEY}))

    def stats(self) -> dict[str, int]:
        """Sizes and counts, for people and for metrics. Free pages are reused before the file grows."""
        info, stat = self._environment.info(), self._environment.stat()
        used_pages = 2 + stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]  # two point to the root
        return {
            "size_on_disk_bytes": os.path.getsize(Path(self._environment.path()) / files.DATA),
            "map_size_bytes": info["map_size"],
            "page_size_bytes": stat["psize"],
            "used_pages": used_pages,
            "free_pages": info["last_pgno"] + 1 - used_pages,  # the list of free pages itself counts as free
            "records": stat["entries"],
            "readers": info["num_readers"],
        }
