"""Walk everything an LMDB store keeps and say what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

import lmdb

from hashrange.storage.long_keys import LINK_END, OWN, PREFIX_SIZE_BYTES, STRIDE, prefix_below

LINK_SIZE_BYTES = STRIDE + len(LINK_END)


def problems(transaction: lmdb.Transaction[bytes], own_records: frozenset[bytes]) -> Iterator[str]:
    """One sentence for each problem: links without keys below, keys that no link leads to, unknown records.

    Reading every entry also makes LMDB follow every page; a page that is not what it should be ends the walk.
    """
    links: dict[bytes, bytes] = {}  # prefix below -> link
    try:
        for key, value in transaction.cursor():
            if len(key) == LINK_SIZE_BYTES and key.endswith(LINK_END):
                links[prefix_below(key[:STRIDE])] = key
                if value:
                    yield f"The link {_short(key)} holds {len(value)} bytes and should be empty."
            elif len(key) > STRIDE:
                yield f"The key {_short(key)} of {len(key)} bytes is too long for a key and is not a link."
        yield from _own_space_problems(transaction, links, own_records)
    except lmdb.Error as error:
        yield f"The database file is damaged: {error}"
        return
    for link in links.values():
        yield f"The link {_short(link)} has no keys below it."


def _own_space_problems(
    transaction: lmdb.Transaction[bytes], links: dict[bytes, bytes], own_records: frozenset[bytes]
) -> Iterator[str]:
    """Check every record in the store's own space, and take the links that lead to some of them out of `links`."""
    cursor = transaction.cursor()
    if not cursor.set_range(OWN):
        return
    linked: bytes | None = None  # the prefix whose link was found
    for key in cursor.iternext(values=False):
        if len(key) <= PREFIX_SIZE_BYTES:
            if key not in own_records:
                yield f"The record {_short(key)} is unknown."
            continue
        prefix = key[:PREFIX_SIZE_BYTES]
        if prefix == linked:
            continue
        if links.pop(prefix, None) is None:
            yield f"The key {_short(key)} continues a long key, but no link leads to it."
        else:
            linked = prefix


def _short(key: bytes) -> str:
    text = key[:24].hex()
    return text if len(key) <= 24 else f"{text}..."
