"""Buckets as directories: the object `a/b` of bucket `photos` is the file DIRECTORY/photos/a/b.

Names come from clients, so none of them may lead out of its bucket: not by `..`, not from the root, not through a
symbolic link. Keys that no file can have are refused.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from hashlib import md5
from pathlib import Path

from hashrange.transfer.objects import AccessDenied, Body, NoSuchBucket, NoSuchObject, StoredObject, Unreachable

UNUSABLE_PARTS = frozenset(("", ".", ".."))
TEMPORARY = ".hashrange-"  # what an object is called until it is whole


class DirectoryObjects:
    """Objects in the files below a directory. A bucket exists if its directory does."""

    def __init__(self, directory: str | None) -> None:
        self._root = None if directory is None else Path(directory)

    def put(self, bucket: str, key: str, data: bytes) -> str:
        home = self._bucket(bucket)
        path = self._inside(home, key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)
        except OSError as error:
            raise as_objects_error(error) from error
        return md5(data, usedforsecurity=False).hexdigest()

    def get(self, bucket: str, key: str) -> Body:
        path = self._inside(self._bucket(bucket), key)
        try:
            return path.open("rb")
        except OSError as error:
            raise as_objects_error(error) from error

    def list(self, bucket: str, prefix: str, *, after: str = "") -> Iterator[StoredObject]:
        home = self._bucket(bucket)
        try:
            found = sorted(self._keys(home), key=str.encode)
            for key in found:
                if key.startswith(prefix) and key.encode() > after.encode():
                    yield StoredObject(key, (home / key).stat().st_size)
        except OSError as error:
            raise as_objects_error(error) from error

    def _bucket(self, bucket: str) -> Path:
        """The directory of a bucket, with all links on the way to it followed. It may itself be a link: the operator
        made it."""
        if self._root is None or bucket in UNUSABLE_PARTS or "/" in bucket or "\0" in bucket:
            raise NoSuchBucket(f"The specified bucket does not exist: {bucket}")
        home = self._root / bucket
        if not home.is_dir():
            raise NoSuchBucket(f"The specified bucket does not exist: {bucket}")
        return home.resolve()

    def _inside(self, home: Path, key: str) -> Path:
        """The file of a key, which lies in the bucket whatever links there are in it."""
        parts = key.split("/")
        if UNUSABLE_PARTS.intersection(parts) or "\0" in key or "\\" in key or parts[-1].startswith(TEMPORARY):
            raise AccessDenied(f"An object of this name cannot be kept in a directory: {key!r}")
        path = home.joinpath(*parts)
        if not path.resolve().is_relative_to(home):
            raise AccessDenied(f"The object leads out of its bucket: {key!r}")
        return path

    def _keys(self, home: Path) -> Iterator[str]:
        """Every object of a bucket. Links are not followed, and half-written files are not objects."""
        for folder, _, names in os.walk(home):
            for name in names:
                path = Path(folder, name)
                if not name.startswith(TEMPORARY) and path.is_file() and not path.is_symlink():
                    key = path.relative_to(home).as_posix()
                    if not any(map(is_surrogate, key)):
                        yield key


def is_surrogate(character: str) -> bool:
    """Whether a character stands for a byte of a file name that is not UTF-8; no key has such bytes."""
    return "\ud800" <= character <= "\udfff"


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that readers see all of it or nothing."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=TEMPORARY, delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def as_objects_error(error: OSError) -> AccessDenied | NoSuchObject | Unreachable:
    """What clients are told. Where the buckets are on this machine is none of their business."""
    if isinstance(error, FileNotFoundError):
        return NoSuchObject("There is no such object")
    if isinstance(error, PermissionError | NotADirectoryError | IsADirectoryError):
        return AccessDenied(f"The object cannot be used: {error.strerror}")
    return Unreachable(f"The object cannot be used: {error.strerror}")
