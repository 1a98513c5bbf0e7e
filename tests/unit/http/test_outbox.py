"""Answers of one turn of the loop go out together, in order, and none is left behind."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from hashrange.clock import ManualClock
from hashrange.http.connection import Connection
from hashrange.http.door import Door, Settings
from hashrange.http.exchange import Exchange
from hashrange.http.outbox import GATHERED_MAX, Outbox
from hashrange.http.server import run

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


class FakeTransport:
    """Keeps what is written to it, as long as it is open."""

    def __init__(self, fails: bool = False) -> None:
        self.written: list[bytes] = []
        self.fails = fails
        self.closed = False

    def write(self, message: bytes) -> None:
        if self.fails:
            raise RuntimeError("the handle is closed")
        assert not self.closed
        self.written.append(message)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def set_write_buffer_limits(self, high: int) -> None:
        pass

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 1) if name == "peername" else None


def as_transport(fake: FakeTransport) -> asyncio.Transport:
    return cast(asyncio.Transport, fake)


def connected(door: Door) -> tuple[Connection, FakeTransport]:
    connection, fake = Connection(door), FakeTransport()
    connection.connection_made(as_transport(fake))
    return connection, fake


def new_door() -> Door:
    def answer(exchange: Exchange) -> None:
        exchange.respond(200, b"", b"yes")

    return Door(answer, Settings(), ManualClock())


def test_answers_wait_for_the_end_of_the_turn() -> None:
    async def story() -> None:
        door = new_door()
        (first, to_first), (second, to_second) = connected(door), connected(door)
        first.data_received(GET)
        second.data_received(GET)
        assert to_first.written == to_second.written == []
        await asyncio.sleep(0)
        assert len(to_first.written) == len(to_second.written) == 1

    run(story())


def test_a_client_that_will_send_no_more_has_its_answer_before_the_connection_ends() -> None:
    async def story() -> None:
        connection, fake = connected(new_door())
        connection.data_received(GET)
        assert not connection.eof_received()  # the transport closes now, in the same turn
        assert len(fake.written) == 1

    run(story())


def test_an_answer_that_cannot_be_sent_does_not_cost_the_others_theirs() -> None:
    async def story() -> None:
        outbox = Outbox()
        broken, closed, sound = FakeTransport(fails=True), FakeTransport(), FakeTransport()
        closed.close()
        for fake in (broken, closed, sound):
            outbox.put(as_transport(fake), b"answer")
        outbox.send()
        assert sound.written == [b"answer"]
        assert closed.written == []

    run(story())


def test_many_answers_do_not_wait_for_the_end_of_the_turn() -> None:
    async def story() -> None:
        outbox, fake = Outbox(), FakeTransport()
        numbers = [b"%d" % number for number in range(GATHERED_MAX)]
        for number in numbers:
            outbox.put(as_transport(fake), number)
        assert fake.written == numbers

    run(story())


def test_connections_that_have_sent_nothing_lately_are_not_active() -> None:
    async def story() -> None:
        door = new_door()
        (quiet, _), (speaking, _) = connected(door), connected(door)
        door.sweep(door.now + 2 * door.settings.sweep_seconds)
        speaking.data_received(GET)
        assert quiet in door.connections
        assert door.active() == [speaking]

    run(story())
