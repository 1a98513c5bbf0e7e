"""Key values as bytes that sort like the values: strings by UTF-8, binaries by byte, numbers by value.

The last component of a key is written as it is (`key_bytes`). A component that others follow is a *part*: it tells
where it ends, so that what follows cannot change the order.

    string or binary   bytes, with 00 written as 00 FF, then 00 01
    number             see `values.number`: ends by itself
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from hashrange.values import binary, number

END_OF_PART = b"\x00\x01"  # sorts before an escaped zero, so a prefix sorts first
ESCAPED_ZERO = b"\x00\xff"
PARTITION_HASH_BYTES = 16
EMPTY_HASH = blake2b(digest_size=PARTITION_HASH_BYTES)


def key_bytes(type_code: str, content: str) -> bytes:
    """The last component of a key. `content` is that of the wire: base64 for a binary, canonical for a number."""
    if type_code == "S":
        return content.encode()
    if type_code == "N":
        return number.ordered(content)
    assert type_code == "B", "a key is a string, a number or a binary"
    return binary.decode(content)


def part(type_code: str, content: str) -> bytes:
    """A component of a key that others may follow."""
    if type_code == "N":
        return number.ordered(content)
    data = content.encode() if type_code == "S" else key_bytes(type_code, content)
    return data.replace(b"\x00", ESCAPED_ZERO) + END_OF_PART


def after(prefix: bytes) -> bytes:
    """The smallest key greater than every key that starts with `prefix`: the open end of a range over them."""
    stem = prefix.rstrip(b"\xff")
    assert stem, "no key is greater than all keys that start with FF"
    return stem[:-1] + bytes((stem[-1] + 1,))


def partition_hash(parts: Sequence[tuple[str, str]]) -> bytes:
    """Where a partition key, given as (type code, content) of each of its attributes, lies in the hash space."""
    if len(parts) == 1:
        return attribute_hash(*parts[0])
    data = b"".join(type_code.encode() + part(type_code, content) for type_code, content in parts)
    return blake2b(data, digest_size=PARTITION_HASH_BYTES).digest()


def attribute_hash(type_code: str, content: str) -> bytes:
    """The same for a partition key of one attribute, as most are."""
    hash = EMPTY_HASH.copy()  # which is quicker than a new one
    hash.update(type_code.encode() + part(type_code, content))
    return hash.digest()
