"""Reading that is done in parts, so that nobody has to wait for the whole of it.

Such work is a generator. Wherever it says `snapshot = yield` it may be put aside for a while; it goes on with the
snapshot that it is given then, which is good until it says so again. What it reads in different parts need not be of
one moment.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

from hashrange.engine.usage import Recorder
from hashrange.storage.interface import Snapshot

T = TypeVar("T")

Parts = Generator[None, Snapshot, T]


def handed_over(recorder: Recorder) -> Parts[None]:
    """Let others see what was counted so far, soon."""
    while recorder.digest():
        yield
    recorder.flush()


def whole(work: Parts[T], snapshot: Snapshot) -> T:
    """All of it at once, from one snapshot."""
    try:
        next(work)
        while True:
            work.send(snapshot)
    except StopIteration as end:
        found: T = end.value
        return found
