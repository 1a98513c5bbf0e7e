"""Giving unused space back to the file system, while no server has the database open."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import lmdb

from hashrange.storage import files
from hashrange.storage.environment import check_format
from hashrange.storage.interface import CannotOpen
from hashrange.storage.lmdb_snapshot import as_store_error


class Compaction(NamedTuple):
    """The size of the database file before and after."""

    before_bytes: int
    after_bytes: int


def compact_directory(directory: str | os.PathLike[str]) -> Compaction:
    """Replace the database with a copy that has no free pages. Whenever this is interrupted, the database is whole.

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
            _replace_with_compact_copy(path, before_bytes)
        except (lmdb.Error, OSError) as error:
            raise as_store_error(error) from error
        return Compaction(before_bytes, data.stat().st_size)


def _replace_with_compact_copy(directory: Path, size_bytes: int) -> None:
    def write(descriptor: int) -> None:
        # Nobody else can be writing, so LMDB's own lock is not needed.
        with lmdb.open(str(directory), readonly=True, lock=False, create=False, map_size=size_bytes) as environment:
            environment.copyfd(descriptor, True)

    files.write_data_file(directory, write)
