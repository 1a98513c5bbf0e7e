"""Reads an object as the bytes that were compressed into it, never more than a bounded piece at a time.

A small file can stand for an enormous one. Whoever reads from here holds one piece of it in memory, and stops when the
pieces do not turn into items (see `lines`).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from hashrange.transfer.objects import Body

INPUT_BYTES = 256 * 1024
PIECE_BYTES = 1024 * 1024
GATHERED_BYTES = 64 * 1024

NONE, GZIP, ZSTD = "NONE", "GZIP", "ZSTD"
ZSTD_WINDOW_BYTES_MAX = 128 * 1024 * 1024  # what a decompressor may be made to hold; also the limit of zstd's own tool
END_MARK = b"the end of the object\n" * 16  # which looks different compressed, so neither can be taken for the other


class MalformedObject(Exception):
    """An object whose content cannot be read on. The text says why."""


class MissingLibrary(Exception):
    """A compression that this installation cannot read. The text says what to do about it."""


def pieces(body: Body, compression: str) -> Iterator[bytes]:
    """The content of an object, decompressed, piece by piece."""
    if compression == NONE:
        return gathered(iter(lambda: body.read(INPUT_BYTES), b""))
    return gathered(gunzipped(body) if compression == GZIP else unzstandard(body))


def gathered(small: Iterator[bytes]) -> Iterator[bytes]:
    """The same content in pieces of some size: a file of many tiny parts must not cost its readers a turn for each."""
    begun: list[bytes] = []
    size_bytes = 0
    try:
        for piece in small:
            begun.append(piece)
            size_bytes += len(piece)
            if size_bytes >= GATHERED_BYTES:
                yield b"".join(begun)
                begun.clear()
                size_bytes = 0
    except MalformedObject:
        if begun:
            yield b"".join(begun)  # what came before the damage counts
        raise
    if begun:
        yield b"".join(begun)


def gunzipped(body: Body) -> Iterator[bytes]:
    """The content of a gzip file, which may have several members one after the other, and zeros behind them."""
    member = new_member()
    is_begun = False
    waiting = b""
    try:
        while data := waiting or body.read(INPUT_BYTES):
            if not is_begun:
                data = data.lstrip(b"\0")
                is_begun = bool(data)
            piece = member.decompress(data, PIECE_BYTES)
            waiting = member.unconsumed_tail
            if member.eof:
                waiting, member, is_begun = member.unused_data, new_member(), False
            if piece:
                yield piece
        while piece := member.decompress(b"", PIECE_BYTES):
            yield piece
    except zlib.error as error:
        raise MalformedObject(f"The object is not valid gzip: {error}") from None
    if is_begun and not member.eof:
        raise MalformedObject("The object is not valid gzip: it ends too early")


def new_member() -> zlib._Decompress:
    return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)


def unzstandard(body: Body) -> Iterator[bytes]:
    """The content of a Zstandard file, which may have several frames one after the other.

    The library does not tell an end from one that comes too early, so we put a frame of our own behind the object: if
    its content does not come out at the end, the last frame was not whole.
    """
    zstandard = require_zstandard()
    marked = Marked(body, zstandard.ZstdCompressor().compress(END_MARK))
    decompressor = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES_MAX)
    reader = decompressor.stream_reader(marked, read_across_frames=True, closefd=False)
    held_back = b""
    try:
        while piece := reader.read(PIECE_BYTES):
            piece = held_back + piece
            held_back = piece[-len(END_MARK) :]
            if len(piece) > len(END_MARK):
                yield piece[: -len(END_MARK)]
    except zstandard.ZstdError as error:
        raise MalformedObject(f"The object is not valid Zstandard: {error}") from None
    if held_back != END_MARK:
        raise MalformedObject("The object is not valid Zstandard: it ends too early")


class Marked:
    """A body with something more behind it."""

    def __init__(self, body: Body, mark: bytes) -> None:
        self._body = body
        self._mark = mark

    def read(self, size: int) -> bytes:
        data = self._body.read(size)
        if not data:
            data, self._mark = self._mark, b""
        return data


def require_zstandard() -> Any:
    """The library for Zstandard, which is an optional dependency."""
    try:
        import zstandard
    except ImportError:
        raise MissingLibrary(
            "ZSTD input needs the Python package zstandard, which is not installed: pip install 'hashrange[zstd]'"
        ) from None
    return zstandard
