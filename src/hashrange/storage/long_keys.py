"""How keys of any length are kept in LMDB, whose keys end at 511 bytes, in exact order.

A key of up to 480 bytes (a *stride*) is stored as it is. A longer key is cut after 480 bytes into a head and a
rest. A *link*, the head and one zero byte, says that keys with this head go on elsewhere: under a prefix made of
0xFF and a hash of the head, which stands for the head. The prefix and the rest are a key again, stored by the
same rule:

    short key                                -> value
    head ∙ 00                                -> nothing: a link
    FF ∙ hash128(head) ∙ rest                -> value
    FF ∙ hash128(head) ∙ 463 bytes ∙ 00      -> nothing: a link to the next level

A link is 481 bytes long, so it is never taken for a key. It sorts after the key that equals its head and before
every other key, which is where the keys below it belong: a scan follows it in place and meets all keys in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice, takewhile

import lmdb

STRIDE = 480
LINK_END = b"\x00"
OWN = b"\xff"  # keys that begin with this are the store's own
HASH_SIZE_BYTES = 16
PREFIX_SIZE_BYTES = len(OWN) + HASH_SIZE_BYTES
PREFIX_END = b"\xff" * (STRIDE + len(LINK_END))  # after a prefix: sorts behind everything under that prefix


def prefix_below(head: bytes) -> bytes:
    """What stands for `head` in the keys below its link."""
    return OWN + blake2b(head, digest_size=HASH_SIZE_BYTES).digest()


def physical_key(key: bytes) -> bytes:
    """The key under which the value of `key` is stored."""
    while len(key) > STRIDE:
        key = prefix_below(key[:STRIDE]) + key[STRIDE:]
    return key


def put_long(transaction: lmdb.Transaction[bytes], key: bytes, value: bytes) -> None:
    """Store a value under a key longer than a stride, with the links that lead to it."""
    while len(key) > STRIDE:
        head = key[:STRIDE]
        transaction.put(head + LINK_END, b"", overwrite=False)
        key = prefix_below(head) + key[STRIDE:]
    transaction.put(key, value)


def delete_long(transaction: lmdb.Transaction[bytes], key: bytes) -> None:
    """Remove a key longer than a stride, and every link that now leads nowhere."""
    links: list[bytes] = []
    while len(key) > STRIDE:
        head = key[:STRIDE]
        links.append(head + LINK_END)
        key = prefix_below(head) + key[STRIDE:]
    if not transaction.delete(key):
        return
    for link in reversed(links):
        if _any_below(transaction, prefix_below(link[:STRIDE])):
            return
        transaction.delete(link)


def _any_below(transaction: lmdb.Transaction[bytes], prefix: bytes) -> bool:
    with transaction.cursor() as cursor:
        return cursor.set_range(prefix) and cursor.key().startswith(prefix)


def scan(
    transaction: lmdb.Transaction[bytes], start: bytes, end: bytes, *, reverse: bool
) -> Iterator[tuple[bytes, bytes]]:
    """Entries with start <= key < end, in key order or against it."""
    if start < end:
        bounds = _seekable_start(start), _seekable_end(min(end, OWN))
        if reverse:
            return _backward(transaction, *bounds, b"", b"", start, end)
        return _forward(transaction, *bounds, b"", b"", start, end)
    return iter(())


def first_values(
    transaction: lmdb.Transaction[bytes], start: bytes, end: bytes, count: int, *, reverse: bool
) -> tuple[list[bytes], bytes]:
    """The values of the first entries that a scan would meet, and the key of the last.

    LMDB lists values without their keys fastest. The last key says whether they all are of the range; only if not, the
    keys are listed too. A link among the values is seen by its own, which is empty, and is left to a scan.
    """
    first, last = _seekable_start(start), _seekable_end(min(end, OWN))
    cursor = transaction.cursor()
    if start >= end or not _enter(cursor, first, last, reverse=reverse):
        return [], b""
    values = list(islice(cursor.iterprev(keys=False) if reverse else cursor.iternext(keys=False), count))
    key = cursor.key()
    if not key or (key < first if reverse else key >= last):
        _enter(cursor, first, last, reverse=reverse)
        walk = cursor.iterprev(values=False) if reverse else cursor.iternext(values=False)
        keys = list(islice(takewhile(first.__le__ if reverse else last.__gt__, walk), count))
        key = keys[-1] if keys else b""
        del values[len(keys) :]
    if all(values):
        return values, key
    entries = list(islice(scan(transaction, start, end, reverse=reverse), count))
    return [value for _, value in entries], entries[-1][0] if entries else b""


def _enter(cursor: lmdb.Cursor[bytes], first: bytes, last: bytes, *, reverse: bool) -> bool:
    """Go to where a walk between two bounds begins; whether there is anything."""
    if reverse:
        return cursor.prev() if cursor.set_range(last) else cursor.last()
    return cursor.set_range(first)


# Below, a *level* is what is stored under one prefix, which stands for a `head` of many bytes: the entry that is
# physically at prefix + rest has the key head + rest. The top level has an empty prefix and an empty head.
# `first` and `last` bound the physical keys of the level; `start` and `end` bound the keys the caller asked for.


def _forward(
    transaction: lmdb.Transaction[bytes],
    first: bytes,
    last: bytes,
    prefix: bytes,
    head: bytes,
    start: bytes,
    end: bytes,
) -> Iterator[tuple[bytes, bytes]]:
    cursor = transaction.cursor()
    if not _enter(cursor, first, last, reverse=False):
        return
    cut = len(prefix)
    for physical, value in cursor.iternext():
        if physical >= last:
            return
        if len(physical) > STRIDE:
            yield from _below(transaction, physical, cut, head, start, end, reverse=False)
        elif cut:
            yield head + physical[cut:], value
        else:
            yield physical, value


def _backward(
    transaction: lmdb.Transaction[bytes],
    first: bytes,
    last: bytes,
    prefix: bytes,
    head: bytes,
    start: bytes,
    end: bytes,
) -> Iterator[tuple[bytes, bytes]]:
    cursor = transaction.cursor()
    if not _enter(cursor, first, last, reverse=True):
        return
    cut = len(prefix)
    for physical, value in cursor.iterprev():
        if physical < first:
            return
        if len(physical) > STRIDE:
            yield from _below(transaction, physical, cut, head, start, end, reverse=True)
        elif cut:
            yield head + physical[cut:], value
        else:
            yield physical, value


def _below(
    transaction: lmdb.Transaction[bytes], link: bytes, cut: int, head: bytes, start: bytes, end: bytes, *, reverse: bool
) -> Iterator[tuple[bytes, bytes]]:
    """The entries below a link, within the bounds."""
    prefix = prefix_below(link[:STRIDE])
    head += link[cut:STRIDE]
    # A bound that does not begin with the head lies outside the level, as the level above has made sure.
    first = _seekable_start(prefix + start[len(head) :]) if start.startswith(head) else prefix
    last = _seekable_end(prefix + end[len(head) :]) if end.startswith(head) else prefix + PREFIX_END
    walk = _backward if reverse else _forward
    return walk(transaction, first, last, prefix, head, start, end)


def _seekable_start(bound: bytes) -> bytes:
    """The smallest physical key that can lead to keys from `bound` on."""
    return bound if len(bound) <= STRIDE else bound[:STRIDE] + LINK_END


def _seekable_end(bound: bytes) -> bytes:
    """A bound that divides physical keys as `bound` does, and is short enough for LMDB to look up."""
    return bound if len(bound) <= STRIDE + 1 else bound[: STRIDE + 1] + b"\x00"
