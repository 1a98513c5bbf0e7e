"""One client's connection: requests to the handler, answers out in the order of the requests.

A request is handled inside the parser's callback, so that a handler which answers at once needs no task, no
future and no thread.

The rule for ends: once `deaf`, a connection takes no further request, and the last exchange in its queue
`closes` it. Every way to end (asked for by the client, refused, stopped) comes down to that.

The rule for fairness: a client that sends many requests at once has its turn, of about `TURN_SECONDS`, and then
waits until the others had theirs.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from typing import cast

from hashrange.http.door import Door
from hashrange.http.exchange import Exchange, Handler, plain_answer
from hashrange.http.overload import busy_answer
from hashrange.http.reader import Reader

__all__ = ["Connection", "Exchange", "Handler"]

logger = logging.getLogger("hashrange.http")

TURN_SECONDS = 0.002


class Connection(asyncio.Protocol):
    """The queue of one client's exchanges.

    An exchange is `pending` from the moment the handler has it until its answer is written. When too many are,
    when the client does not read its answers, or when it has had its turn, the connection is `holding`: it reads no
    more, and requests that were already read are `waiting` (with the handler each is meant for).
    """

    __slots__ = (
        "closing_since",
        "congested_since",
        "deaf",
        "door",
        "holding",
        "in_flight_max",
        "is_new",
        "lingers",
        "peer",
        "pending",
        "reader",
        "releasing",
        "resting",
        "transport",
        "turn_ends",
        "unread_bytes",
        "waiting",
    )

    transport: asyncio.Transport

    def __init__(self, door: Door, *, is_new: bool = True) -> None:
        """One that another process has taken and then moved here is not new: it is neither refused nor moved on."""
        self.door = door
        self.is_new = is_new
        self.reader = Reader(self, door)
        self.peer = ""
        self.in_flight_max = door.settings.in_flight_max
        self.pending: deque[Exchange] = deque()
        self.waiting: deque[tuple[Exchange, Handler]] = deque()
        self.holding = False
        self.releasing = False
        self.resting = False  # whether it has had its turn, and waits for the next
        self.deaf = False
        self.lingers = False
        self.turn_ends: float | None = None  # while a client has its turn: zero until it has sent a second request
        self.unread_bytes = 0  # of answers, as far as they are counted in the door's memory
        self.congested_since: float | None = None
        self.closing_since: float | None = None

    # What the transport calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=self.door.settings.write_buffer_bytes)
        self.peer = str((transport.get_extra_info("peername") or ("",))[0])
        full = self.door.is_full()
        self.door.enter(self)
        if self.door.stopping:
            self.end_after_last()
        elif self.is_new and not self._is_placed() and full:
            self.refuse(busy_answer)

    def _is_placed(self) -> bool:
        """Whether another process has it now."""
        place = self.door.place
        return place is not None and place(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.door.leave(self)
        self.deaf = True
        self._forget()
        self.count_unread(0)
        self.reader.close()

    def data_received(self, data: bytes) -> None:
        if not self.deaf:
            self.turn_ends = None
            self.reader.feed(data)

    def eof_received(self) -> bool:
        """The client will send nothing more, but may be waiting for answers."""
        self.door.outbox.send()
        if self.closing_since is not None or not (self.pending or self.waiting):
            return False
        self.end_after_last()
        return self.transport.can_write_eof()  # TLS cannot stay half open

    def pause_writing(self) -> None:
        self.congested_since = self.door.now
        self.door.congested[self] = None
        self._hold()
        self.count_unread(self._measured_unread())

    def resume_writing(self) -> None:
        self.congested_since = None
        self.door.congested.pop(self, None)
        self.count_unread(self._measured_unread())
        self._release()

    # The queue of exchanges

    def take(self, exchange: Exchange, handler: Handler) -> None:
        """Have a request answered, now or when there is room for it."""
        if self.turn_ends is None:
            self.turn_ends = 0.0
        elif not self.holding and self._turn_is_over():
            self._hold()
            self._rest()
        if self.holding:
            self.waiting.append((exchange, handler))
        else:
            self._start(exchange, handler)

    def _start(self, exchange: Exchange, handler: Handler) -> None:
        pending = self.pending
        pending.append(exchange)
        if len(pending) >= self.in_flight_max:
            self._hold()
        try:
            handler(exchange)
        except Exception:
            self.answer_for(exchange)

    def take_last(self, exchange: Exchange, handler: Handler) -> None:
        """Take a request after which the connection ends."""
        self.deaf = True
        exchange.closes = True
        self.take(exchange, handler)

    def _turn_is_over(self) -> bool:
        """Whether a client that sends one request after the other should let others go first. The clock is looked at
        only for such clients."""
        now = time.perf_counter()
        if not self.turn_ends:
            self.turn_ends = now + TURN_SECONDS
        return now > self.turn_ends

    def _rest(self) -> None:
        if not self.resting:
            self.resting = True
            asyncio.get_running_loop().call_soon(self._next_turn)

    def _next_turn(self) -> None:
        self.resting = False
        self.turn_ends = 0.0
        self._release()

    def answer_for(self, exchange: Exchange) -> None:
        """The handler failed, which it never should: do not leave the client without an answer."""
        logger.exception("A request could not be answered")
        if not exchange.answered:
            plain_answer(500, "Internal error.")(exchange)

    def send(self, exchange: Exchange, message: bytes) -> None:
        """Write an answer if its turn has come; otherwise keep it until it has."""
        pending = self.pending
        if not pending or pending[0] is not exchange:
            self._keep(exchange, message)
            return
        pending.popleft()
        self.door.outbox.put(self.transport, message)
        if exchange.closes:
            self._finish()
        elif pending or self.holding:
            self._send_ready()

    def may_keep(self, size_bytes: int) -> bool:
        """Whether there is room for an answer that cannot be written yet."""
        return self.door.memory.answers.has_room(size_bytes, own_bytes=self.unread_bytes)

    def count_kept(self) -> None:
        """The answers that wait have become more, or less."""
        self.count_unread(self._measured_unread())
        if self._has_room():
            self._release()
        elif self.closing_since is None:
            self._hold()

    def _keep(self, exchange: Exchange, message: bytes) -> None:
        if not self.pending:
            return  # nobody is left to read it
        exchange.message = message
        self.count_unread(self.unread_bytes + len(message))
        if not self._has_room():
            self._hold()

    def _send_ready(self) -> None:
        pending = self.pending
        while pending and (message := pending[0].message) is not None:
            self.door.outbox.put(self.transport, message)
            if pending.popleft().closes:
                self._finish()
        if self.unread_bytes:
            self.count_unread(self._measured_unread())
        self._release()

    def _hold(self) -> None:
        if not self.holding:
            self.holding = True
            self.transport.pause_reading()

    def _release(self) -> None:
        """Take up the requests that had to wait, and read on once none is left."""
        if self.releasing or self.resting or not self.holding or self.closing_since is not None:
            return  # an answer given inside the loop below comes back here; the loop itself goes on
        self.releasing = True
        while self.waiting and self._has_room():
            if self._turn_is_over():
                self._rest()
                break
            self._start(*self.waiting.popleft())
        self.releasing = False
        if not self.waiting and self._has_room() and self.closing_since is None:
            self.holding = False
            self.reader.release_waiting()
            self.reader.since = self.door.now  # a request half read was not slow while nobody listened
            self.transport.resume_reading()

    def _has_room(self) -> bool:
        return (
            self.congested_since is None
            and len(self.pending) < self.in_flight_max
            and self.unread_bytes <= self.door.settings.write_buffer_bytes
        )

    # Leaving for another process

    def is_quiet(self) -> bool:
        """Whether nothing of it is in our hands: no request begun or unanswered, no answer unsent. (An answer may be
        in the outbox, which whoever asks has to send first.)"""
        idle = not (self.pending or self.waiting or self.holding or self.deaf or self.reader.begun)
        return idle and not self.transport.get_write_buffer_size()

    def leave(self) -> None:
        """Another process has it now. Closing our end ends nothing as long as that one has it open."""
        self.deaf = True
        self.transport.close()

    # Answers that nobody reads

    def _measured_unread(self) -> int:
        kept = sum(exchange.kept_bytes() for exchange in self.pending)
        return kept + (0 if self.congested_since is None else self.transport.get_write_buffer_size())

    def count_unread(self, size_bytes: int) -> None:
        """Take note of how much of the door's memory is taken by our answers."""
        grown_bytes, self.unread_bytes = size_bytes - self.unread_bytes, size_bytes
        if grown_bytes:
            self.door.count_unread(self, grown_bytes)

    # The end

    def refuse(self, handler: Handler) -> None:
        """Answer that this cannot go on, after the answers that are due before, and close."""
        self.reader.abandon()
        self.lingers = True
        self.take_last(Exchange(self, b"", b"", {}, b""), handler)

    def end_after_last(self) -> None:
        """Close after the last answer that is due."""
        self.reader.abandon()
        self.deaf = True
        if self.waiting:
            self.waiting[-1][0].closes = True
        elif self.pending:
            self.pending[-1].closes = True
        else:
            self._finish()

    def _finish(self) -> None:
        """Close once everything is written.

        A client that was refused may still be sending. Closing on bytes that were not read would destroy our
        answer on its way, so for a while they are read and thrown away.
        """
        self.door.outbox.send()
        self.closing_since = self.door.now
        self._forget()
        if not self.lingers:
            self.transport.close()
            return
        self.transport.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def _forget(self) -> None:
        """Nothing of what was asked will be answered any more."""
        for exchange in self.pending:
            exchange.forget()
        self.pending.clear()
        self.waiting.clear()

    def stop(self) -> None:
        """Answer what has been sent so far, a request half read included, and close."""
        if not self.reader.begun and not self.deaf:
            self.lingers = self.holding  # there may be more that we did not read
            self.end_after_last()

    def abort(self) -> None:
        self.transport.abort()

    def cut(self) -> None:
        """End at once, unread answers and all, to make room for those of others."""
        self._forget()
        self.door.congested.pop(self, None)
        self.door.memory.answers.give_back(self.unread_bytes)
        self.unread_bytes = 0
        self.deaf = True
        self.transport.abort()

    def look_after(self) -> None:
        """Called once per sweep: has anything taken too long?"""
        settings = self.door.settings
        now = self.door.now
        if self.closing_since is not None:
            if now - self.closing_since > (settings.linger_seconds if self.lingers else settings.drain_seconds):
                self.transport.abort()
        elif self.congested_since is not None:
            if now - self.congested_since > settings.drain_seconds:
                self.transport.abort()
        elif self.reader.begun and not self.holding:
            if now - self.reader.since > settings.request_seconds:
                self.refuse(plain_answer(408, "The request took too long to arrive."))
        elif not self.pending and now - self.reader.since > settings.idle_seconds:
            self.end_after_last()
