"""Splits what arrives in pieces into lines, and refuses what would never end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hashrange.limits import REQUEST_BODY_BYTES_MAX
from hashrange.transfer.decompression import MalformedObject

LINE_BYTES_MAX = REQUEST_BODY_BYTES_MAX
"""Nothing that is longer could have been put by a request. So much without an item is no input file."""


def lines(pieces: Iterable[bytes], *, with_blank: bool = False) -> Iterator[bytes]:
    """Every line without its end. Blank ones are left out, unless they may be the middle of something."""
    begun: list[bytes] = []  # the parts of a line whose end has not come
    barren_bytes = 0  # since the last line that is not blank
    for piece in pieces:
        *ended, rest = piece.split(b"\n")
        for end in ended:
            line = b"".join((*begun, end)) if begun else end
            begun.clear()
            is_blank = not line or line.isspace()
            barren_bytes = barren_bytes + len(line) + 1 if is_blank else 0
            if with_blank or not is_blank:
                yield line
        if rest:
            begun.append(rest)
        if barren_bytes + sum(map(len, begun)) > LINE_BYTES_MAX:
            raise MalformedObject(f"The object has more than {LINE_BYTES_MAX} bytes without an item")
    last = b"".join(begun)
    if last and not last.isspace():
        yield last
