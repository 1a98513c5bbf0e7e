"""Giving unused space back to the file system, while no server has the database open."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import lmdb

from hashrange.storage import files
from hashrange.storage.environment import check_format
from hashrange.storage.interface import CannotOpen, Corruption
from hashrange.storage.lmdb_snapshot import as_store_error

COMMIT_BYTES = 16 * 1024**2  # what is held in memory before it is written to the file
MAP_BYTES_SPARE = 64 * 1024**2


class Compaction(NamedTuple):
    """The size of the database file before and after."""

    before_bytes: int
    after_bytes: int


def compact_directory(directory: str | os.PathLike[str]) -> Compaction:
    """Replace the database with a copy that has full pages and hardly a free one. Interrupted at any time, it is whole.

    Needs room for the copy beside the old file. Raises `CannotOpen` if a server has the database open.
    """
    path = Path(directory)
    if not files.look(path):
        raise CannotOpen(f"There is no Hashrange database in {path}.")
    files.require_writable(path)
    check_format(path)
    data = path / files.DATA
    with files.exclusive_use(path):
        before_bytes = data.stat().st_size
        try:
            _replace_with_packed_copy(path, before_bytes)
        except (lmdb.Error, OSError) as error:
            raise as_store_error(error) from error
        return Compaction(before_bytes, data.stat().st_size)


def _replace_with_packed_copy(directory: Path, size_bytes: int) -> None:
    def write(path: Path, _: int) -> None:
        # Nobody else can be using either file, so LMDB's own locks are not needed.
        with (
            lmdb.open(str(directory), readonly=True, lock=False, create=False, map_size=size_bytes) as source,
            lmdb.open(str(path), subdir=False, lock=False, sync=False, map_size=_map_size(size_bytes)) as target,
            source.begin() as transaction,
        ):
            _append_all(transaction.cursor(), target)
            if target.stat()["entries"] != source.stat()["entries"]:
                raise Corruption("The database file is damaged: it does not hold as many entries as it says.")

    files.write_data_file(directory, write)


def _map_size(size_bytes: int) -> int:
    """Room for the copy. Two neighbouring leaves hold more than a page together, so twice the old size is enough."""
    return 2 * size_bytes + MAP_BYTES_SPARE


def _append_all(entries: lmdb.Cursor[bytes], target: lmdb.Environment) -> None:
    """Copy all entries in order.

    Entries that came in any order have left LMDB's leaves a half to two thirds full, and a copy of the pages would be
    no fuller. Told that every entry goes to the end, LMDB fills a leaf before it begins the next.
    """
    more = entries.first()
    while more:
        copied_bytes = 0
        with target.begin(write=True) as transaction:
            while more and copied_bytes < COMMIT_BYTES:
                key, value = entries.item()
                if not transaction.put(key, value, append=True):
                    raise Corruption("The database file is damaged: its keys are not in order.")
                copied_bytes += len(key) + len(value)
                more = entries.next()
