"""Reading from an LMDB transaction: the snapshot that readers and plans are given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from types import TracebackType

import lmdb

from hashrange.storage.interface import Corruption, StoreError, Unavailable
from hashrange.storage.long_keys import STRIDE, first_values, physical_key, scan

DAMAGE = (
    lmdb.CorruptedError,
    lmdb.PageNotFoundError,
    lmdb.InvalidError,
    lmdb.CursorFullError,
    lmdb.PageFullError,
)


def as_store_error(error: BaseException) -> StoreError:
    """LMDB's error, or the system's, in the words of the interface."""
    if isinstance(error, DAMAGE):
        return Corruption(f"The database file is damaged: {error}")
    return Unavailable(f"The store cannot do this now: {error}")


class TransactionSnapshot:
    """The view that an open transaction has; of a write transaction, with all that was written in it so far."""

    __slots__ = ("_transaction",)

    def __init__(self, transaction: lmdb.Transaction[bytes]) -> None:
        self._transaction = transaction

    def get(self, key: bytes) -> bytes | None:
        return self._transaction.get(key if len(key) <= STRIDE else physical_key(key))

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        get = self._transaction.get
        return [get(key if len(key) <= STRIDE else physical_key(key)) for key in keys]

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        entries = scan(self._transaction, start, end, reverse=reverse)
        return entries if limit is None else islice(entries, limit)

    def first_values(self, start: bytes, end: bytes, count: int, *, reverse: bool = False) -> tuple[list[bytes], bytes]:
        return first_values(self._transaction, start, end, count, reverse=reverse)


class ReadSnapshot(TransactionSnapshot):
    """A read transaction that lives as long as its `with`.

    LMDB keeps every page that an open reader may still look at, so none is left open. Beginning one costs a
    fraction of a microsecond, because the environment keeps a finished one to begin again.
    """

    __slots__ = ("_environment",)

    def __init__(self, environment: lmdb.Environment) -> None:
        self._environment = environment

    def __enter__(self) -> ReadSnapshot:
        try:
            self._transaction = self._environment.begin()
        except lmdb.Error as error:
            raise as_store_error(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._transaction.abort()
        if error is not None and isinstance(error, lmdb.Error):
            raise as_store_error(error) from error
