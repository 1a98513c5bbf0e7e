"""Where exports go and imports come from: buckets of objects.

A bucket is a directory on this machine, or a bucket behind any endpoint that speaks S3. Everything here may block, so
it is called from threads of its own and never from the event loop or the store's writer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol


class ObjectsError(Exception):
    """A bucket or an object cannot be used. `code` is what the description of a failed transfer says."""

    code = "S3InternalError"


class NoSuchBucket(ObjectsError):
    code = "S3NoSuchBucket"


class NoSuchObject(ObjectsError):
    code = "S3NoSuchKey"


class AccessDenied(ObjectsError):
    code = "S3AccessDenied"


class Unreachable(ObjectsError):
    """The endpoint did not answer, or not with anything that S3 says."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """One object of a listing."""

    key: str
    size_bytes: int


class Body(Protocol):
    """The content of an object, read piece by piece."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""
        ...

    def close(self) -> None: ...


class Objects(Protocol):
    """A place with buckets. Every method raises `ObjectsError` for what cannot be done."""

    def put(self, bucket: str, key: str, data: bytes) -> str:
        """Write an object, or replace it; its entity tag."""
        ...

    def get(self, bucket: str, key: str) -> Body: ...

    def list(self, bucket: str, prefix: str, *, after: str = "") -> Iterator[StoredObject]:
        """The objects whose keys start with a prefix, in the order of their keys, those after a given one."""
        ...


@lru_cache
def open_objects(directory: str | None, endpoint: str | None) -> Objects:
    """The objects behind an S3 endpoint if there is one, else in a directory; without either there are no buckets."""
    from hashrange.transfer.directory_objects import DirectoryObjects
    from hashrange.transfer.s3_objects import S3Objects

    return DirectoryObjects(directory) if endpoint is None else S3Objects(endpoint)
