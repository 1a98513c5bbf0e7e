"""Compressed bodies: gzip in both directions, and nothing else."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

COMPRESSED_FROM_BYTES = 4096  # shorter answers are sent as they are; the service starts at about this size
COMPRESSED_ASIDE_FROM_BYTES = 64 * 1024  # longer ones take milliseconds, for which nobody else should have to wait

GZIP_WINDOW_BITS = 31  # zlib's way to say "with gzip header and trailer"
FASTEST_LEVEL = 1


class BodyRefused(Exception):
    """A body that cannot be decoded; carries the status to answer with and why."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


@lru_cache(maxsize=256)
def accepts_gzip(accept_encoding: bytes) -> bool:
    """Whether an Accept-Encoding header allows gzip: by name, or by `*` when it is not named."""
    weights = dict(_weighted_coding(part) for part in accept_encoding.split(b","))
    return weights.get(b"gzip", weights.get(b"*", 0.0)) > 0


def _weighted_coding(part: bytes) -> tuple[bytes, float]:
    coding, _, parameter = part.partition(b";")
    name, _, weight = parameter.partition(b"=")
    if name.strip().lower() != b"q":
        return coding.strip().lower(), 1.0
    try:
        return coding.strip().lower(), float(weight)
    except ValueError:
        return coding.strip().lower(), 0.0


def compress(body: bytes) -> bytes:
    return zlib.compress(body, FASTEST_LEVEL, GZIP_WINDOW_BITS)


def compress_aside(body_of: Callable[[], bytes]) -> asyncio.Future[bytes]:
    """The same in a thread; zlib lets the others run meanwhile. The body is asked for when its turn has come: by then
    nobody may want it any more, and it may be gone."""
    return asyncio.get_running_loop().run_in_executor(_compressor(), lambda: compress(body_of()))


@lru_cache(maxsize=1)
def _compressor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "hashrange-gzip")


def decode(content_encoding: bytes, body: bytes, *, bytes_max: int) -> bytes:
    """The body behind a Content-Encoding header, never longer than `bytes_max`."""
    coding = content_encoding.strip().lower()
    if coding in (b"identity", b""):
        return body
    if coding not in (b"gzip", b"x-gzip"):
        raise BodyRefused(415, "The only Content-Encoding understood here is gzip.")
    return _inflate(body, bytes_max)


def _inflate(body: bytes, bytes_max: int) -> bytes:
    """One gzip member; the bound stops a small body from growing into a large one."""
    stream = zlib.decompressobj(GZIP_WINDOW_BITS)
    try:
        inflated = stream.decompress(body, bytes_max + 1)
    except zlib.error as error:
        raise BodyRefused(400, "The body is not valid gzip.") from error
    if len(inflated) > bytes_max:
        raise BodyRefused(413, f"The body is larger than {bytes_max} bytes.")
    if not stream.eof or stream.unused_data:
        raise BodyRefused(400, "The body is not valid gzip.")
    return inflated
