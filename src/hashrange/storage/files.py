"""The data directory: what is in it, who uses it, and how files in it are replaced.

    data.mdb          the database
    lock.mdb          LMDB's table of readers and its writers' lock
    hashrange.lock    held shared by every process that has the database open, exclusively by compaction
    data.mdb.partial  a copy being written; never read, and removed when the database is next opened
    server.key        what the secrets of access keys are derived from, if there are any; in no copy of the database
    tls/              the certificate of --tls-self-signed

Looking never changes anything, so a directory that is refused is left exactly as it was found.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hashrange.storage.interface import CannotOpen

if sys.platform != "win32":
    import fcntl

DATA = "data.mdb"
LMDB_LOCK = "lock.mdb"
USE_LOCK = "hashrange.lock"
PARTIAL = "data.mdb.partial"
SERVER_KEY = "server.key"
TLS = "tls"

# What a directory without a database may hold and still be taken for a new one. A freshly made file system
# has a lost+found; the lock files are left by a start that was interrupted; the server's key may be put back first;
# a certificate is made before the database is.
HARMLESS = frozenset({LMDB_LOCK, USE_LOCK, SERVER_KEY, TLS, "lost+found"})


def look(directory: Path) -> bool:
    """Whether `directory` holds a database; if not, whether one may be made there, else `CannotOpen`."""
    try:
        names = set(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        _require_creatable(directory)
        return False
    except OSError as error:
        raise CannotOpen(f"The data directory {directory} cannot be read: {error.strerror}.") from error
    if DATA in names:
        return os.path.getsize(directory / DATA) > 0  # an interrupted start leaves an empty file
    foreign = sorted(names - HARMLESS)
    if foreign:
        raise CannotOpen(
            f"The directory {directory} holds {foreign[0]} and no Hashrange database: "
            "choose an empty directory or one that does not exist yet."
        )
    return False


def require_writable(directory: Path) -> None:
    """Raise `CannotOpen` if files in an existing `directory` cannot be written."""
    for path in (directory, directory / DATA):
        if path.exists() and not os.access(path, os.W_OK):
            raise CannotOpen(f"The data directory {directory} is not writable: no permission to write {path}.")


def _require_creatable(directory: Path) -> None:
    if directory.exists():
        raise CannotOpen(f"The data directory {directory} is not a directory.")
    parent = directory.absolute().parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir():
        raise CannotOpen(f"The data directory {directory} cannot be created: {parent} is not a directory.")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise CannotOpen(f"The data directory {directory} cannot be created: no permission to write in {parent}.")


def create_directory(directory: Path) -> None:
    """Make `directory`, readable by its owner only, such that it is still there after a power cut."""
    missing = [path for path in (directory, *directory.absolute().parents) if not path.exists()]
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CannotOpen(f"The data directory {directory} cannot be created: {error.strerror}.") from error
    for path in missing:
        sync_directory(path.absolute().parent)


def data_size_bytes(directory: Path) -> int:
    """How large the database file is."""
    return (directory / DATA).stat().st_size


def sync_directory(directory: Path) -> None:
    """Make the names in `directory` as durable as its files."""
    if sys.platform == "win32":
        return  # names are durable there when the files are
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class UseLock:
    """A hold on the directory: shared by those who use the database, exclusive for the one who replaces it.

    The system lets go of it when the process ends, however it ends. On Windows there is nothing to hold, because
    a file that is mapped cannot be replaced there anyway.
    """

    def __init__(self, directory: Path, *, exclusive: bool, read_only: bool = False) -> None:
        self._descriptor: int | None = None
        try:
            self._descriptor = _open_lock(directory / USE_LOCK, read_only=read_only)
        except OSError as error:
            if read_only:
                return  # a directory that cannot be written: nobody can replace the database either
            raise CannotOpen(f"The data directory {directory} is not writable: {error.strerror}.") from error
        if not _lock(self._descriptor, exclusive=exclusive):
            self.release()
            user = "is in use by a running server" if exclusive else "is being compacted"
            raise CannotOpen(f"The database in {directory} {user}; try again when that has ended.")

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _open_lock(path: Path, *, read_only: bool) -> int:
    if read_only and path.exists():
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _lock(descriptor: int, *, exclusive: bool) -> bool:
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def exclusive_use(directory: Path) -> Iterator[None]:
    """Hold the database for ourselves alone, or raise `CannotOpen` if anybody has it open."""
    lock = UseLock(directory, exclusive=True)
    try:
        yield
    finally:
        lock.release()


def write_data_file(directory: Path, write: Callable[[Path, int], None]) -> None:
    """Let `write` fill a file, by its path or descriptor, then put it in the place of the database, all or nothing.

    Whatever happens on the way, the directory holds the old database or the new one, never a part of either.
    """
    partial = directory / PARTIAL
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        try:
            write(partial, descriptor)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(partial, directory / DATA)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_directory(directory)


def server_key(directory: Path) -> bytes | None:
    """What the server's key file holds; None if there is none."""
    try:
        return (directory / SERVER_KEY).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CannotOpen(f"The key file {directory / SERVER_KEY} cannot be read: {error.strerror}.") from error


def keep_server_key(directory: Path, content: bytes) -> None:
    """Make the server's key file, for its owner's eyes only, unless somebody else was quicker."""
    path = directory / SERVER_KEY
    draft = directory / f"{SERVER_KEY}.{os.getpid()}"
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        with suppress(FileExistsError):
            os.link(draft, path)
        sync_directory(directory)
    except OSError as error:
        raise CannotOpen(f"The key file {path} cannot be made: {error.strerror}.") from error
    finally:
        draft.unlink(missing_ok=True)


def discard_partial(directory: Path) -> None:
    """Remove what an interrupted compaction left."""
    (directory / PARTIAL).unlink(missing_ok=True)
