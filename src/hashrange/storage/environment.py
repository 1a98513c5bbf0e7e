"""Opening the LMDB environment in a data directory, and the record that says which format it is in."""

from __future__ import annotations

from pathlib import Path

import lmdb

from hashrange.storage import files
from hashrange.storage.interface import CannotOpen
from hashrange.storage.long_keys import OWN

FORMAT_KEY = OWN + b"format"
FORMAT_VERSION = 1

READERS_MAX = 1024  # over all processes; the first one to open the database decides
READERS_SPARE = 16  # finished read transactions kept to be begun again
MAP_SIZE_BYTES_MIN = 1024**3
CHECK_MAP_BYTES_SPARE = 64 * 1024**2  # the file may grow while it is looked at


def check_format(directory: Path) -> None:
    """Raise `CannotOpen` unless the database in `directory` is one that this version can use. Changes nothing."""
    # Without LMDB's lock a writer could reuse the pages we read; with it, a foreign lock file would be written to.
    # A directory with our own lock file is ours, and so is the lock file of LMDB beside it.
    lock = all((directory / name).exists() for name in (files.USE_LOCK, files.LMDB_LOCK))
    map_size = (directory / files.DATA).stat().st_size + CHECK_MAP_BYTES_SPARE
    try:
        with (
            lmdb.open(str(directory), readonly=True, lock=lock, create=False, map_size=map_size) as environment,
            environment.begin() as transaction,
        ):
            _require_known_format(transaction, directory)
    except lmdb.Error as error:
        raise _cannot_open(directory, error) from error


def open_environment(directory: Path, *, map_size: int, sync: bool, read_only: bool) -> lmdb.Environment:
    """Open the environment with as large a map as the system grants; make the database if there is none."""
    try:
        environment = _open_with_largest_map(directory, map_size, sync=sync, read_only=read_only)
    except lmdb.Error as error:
        raise _cannot_open(directory, error) from error
    try:
        environment.reader_check()  # readers that died would keep old pages from being used again
        if not read_only:
            _ensure_format(environment, directory)
    except lmdb.Error as error:
        environment.close()
        raise _cannot_open(directory, error) from error
    except CannotOpen:
        environment.close()
        raise
    return environment


def _open_with_largest_map(directory: Path, map_size: int, *, sync: bool, read_only: bool) -> lmdb.Environment:
    while True:
        try:
            return lmdb.open(
                str(directory),
                map_size=map_size,
                readonly=read_only,
                lock=not read_only or (directory / files.LMDB_LOCK).exists(),
                create=False,
                mode=0o700,
                sync=sync,
                metasync=sync,
                max_readers=READERS_MAX,
                max_spare_txns=READERS_SPARE,
            )
        except (lmdb.MemoryError, OverflowError):  # address space is limited, as by ulimit -v
            if map_size <= MAP_SIZE_BYTES_MIN:
                raise
            map_size //= 4


def _ensure_format(environment: lmdb.Environment, directory: Path) -> None:
    """Write the format record into a new database; check it in an old one."""
    with environment.begin(write=True) as transaction:
        _require_known_format(transaction, directory)
        transaction.put(FORMAT_KEY, str(FORMAT_VERSION).encode(), overwrite=False)
    files.sync_directory(directory)


def _require_known_format(transaction: lmdb.Transaction[bytes], directory: Path) -> None:
    record = transaction.get(FORMAT_KEY)
    if record is None:
        if transaction.stat()["entries"]:
            raise CannotOpen(f"The database in {directory} was not made by Hashrange.")
        return  # its making was interrupted before anything was in it
    if not record.isdigit():
        raise CannotOpen(f"The database in {directory} has a format record that cannot be read.")
    if int(record) > FORMAT_VERSION:
        raise CannotOpen(
            f"The database in {directory} was written by a newer version of Hashrange "
            f"(format {int(record)}; this version knows formats up to {FORMAT_VERSION})."
        )


def _cannot_open(directory: Path, error: Exception) -> CannotOpen:
    if isinstance(error, lmdb.InvalidError | lmdb.VersionMismatchError | lmdb.CorruptedError):
        return CannotOpen(f"The file {directory / files.DATA} is not a Hashrange database, or it is damaged: {error}.")
    return CannotOpen(f"The database in {directory} cannot be opened: {error}.")
