"""Stored keys read back. The server never has to; that it could shows that no two values have one key."""

from __future__ import annotations

from hashrange.values import binary, number
from hashrange.values.ordered import END_OF_PART, ESCAPED_ZERO

BYTE_TO_PAIR = bytes((value - 1) % 256 for value in range(256))


def read_part(type_code: str, data: bytes, position: int) -> tuple[str, int]:
    """The content of the part that starts at `position`, and where the next one starts."""
    if type_code == "N":
        return read_ordered(data, position)
    end = data.index(END_OF_PART, position)  # a zero inside is followed by FF, so this is the terminator
    raw = data[position:end].replace(ESCAPED_ZERO, b"\x00")
    return (raw.decode() if type_code == "S" else binary.encode(raw)), end + len(END_OF_PART)


def from_ordered(data: bytes) -> str:
    """The canonical number behind the bytes that `ordered` made."""
    canonical, end = read_ordered(data, 0)
    assert end == len(data), "bytes after the end of a number"
    return canonical


def read_ordered(data: bytes, position: int) -> tuple[str, int]:
    """The canonical number that starts at `position`, and where the next thing starts."""
    negative = data[position] < number._HEADER_POSITIVE
    end = data.index(b"\xff" if negative else b"\x00", position + 1)
    positive = data[position:end].translate(number._INVERTED) if negative else data[position:end]
    written = positive[1:].translate(BYTE_TO_PAIR).hex()
    if not written:
        return "0", end + 1
    first_pair_is_full = written[0] != "0"
    magnitude = (positive[0] - number._HEADER_SHIFT) * 2 + first_pair_is_full
    return number._plain(negative, written.strip("0"), magnitude), end + 1
