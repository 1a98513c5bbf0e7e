"""What `verify` finds in a database that was tampered with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import lmdb
import pytest

from hashrange.storage import LmdbStore, Plan, write_and_wait
from hashrange.storage.long_keys import STRIDE, physical_key

LONG = b"k" * 1200
LINK = LONG[:STRIDE] + b"\x00"

Tamper = Callable[["lmdb.Transaction[bytes]"], object]


@pytest.mark.parametrize(
    ("tamper", "expected"),
    [
        (lambda transaction: None, []),
        (lambda transaction: transaction.delete(LINK), ["continues a long key, but no link leads to it"]),
        (lambda transaction: transaction.delete(physical_key(LONG)), ["has no keys below it"]),
        (lambda transaction: transaction.put(LINK, b"xyz"), ["holds 3 bytes and should be empty"]),
        (lambda transaction: transaction.put(b"\xffstray", b""), ["The record ff7374726179 is unknown."]),
        (lambda transaction: transaction.put(b"k" * 500, b""), ["of 500 bytes is too long for a key"]),
    ],
)
def test_each_kind_of_damage_is_named(tmp_path: Path, tamper: Tamper, expected: list[str]) -> None:
    store = LmdbStore.open(tmp_path)
    write_and_wait(store, lambda _: Plan([(b"short", b""), (LONG, b"")]))
    store.close()
    with lmdb.open(str(tmp_path), map_size=1024**3) as environment, environment.begin(write=True) as transaction:
        tamper(transaction)
    store = LmdbStore.open(tmp_path)
    found = list(store.verify())
    store.close()
    for sentence, part in zip(found, expected, strict=True):
        assert part in sentence
