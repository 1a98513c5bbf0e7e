"""Connections go from one process to another, and their clients do not notice."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from hashrange.http.door import Settings
from hashrange.http.exchange import Exchange
from hashrange.http.handover import Channel, Hears, Load
from hashrange.http.listen import bind
from hashrange.http.server import Server, run, serve

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


class Pair:
    """Two servers in one loop that stand for two processes. Each answers with its name; `/later` waits."""

    def __init__(self, first: Server, second: Server, port: int, held: list[Exchange]) -> None:
        self.first, self.second, self.port, self.held = first, second, port, held
        self.heard: list[Any] = []
        ours, theirs = socket.socketpair()
        self.to_second = Channel(ours, self.hears(first))
        self.to_first = Channel(theirs, self.hears(second))

    def hears(self, server: Server) -> Hears:
        return Hears(
            connection=server.adopt,
            load=self.heard.append,
            share=lambda count: self.heard.append(("share", count)),
            retire=lambda: self.heard.append("retire"),
            end=lambda: self.heard.append("end"),
        )

    def give_all(self) -> int:
        return sum(self.to_second.give(connection) for connection in tuple(self.first.door.connections))

    async def client(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)


@asynccontextmanager
async def pair(connections_max: int = 10_000) -> AsyncIterator[Pair]:
    """`connections_max` is that of the second."""
    held: list[Exchange] = []

    def answering(name: bytes) -> Callable[[Exchange], None]:
        def handle(exchange: Exchange) -> None:
            held.append(exchange) if exchange.url == b"/later" else exchange.respond(200, b"", name + exchange.body)

        return handle

    [listening] = bind("127.0.0.1", 0)
    settings = Settings(grace_seconds=0.1)
    first = await serve(answering(b"first"), [listening], settings=settings)
    second = await serve(answering(b"second"), [], settings=replace(settings, connections_max=connections_max))
    both = Pair(first, second, listening.getsockname()[1], held)
    try:
        yield both
    finally:
        both.to_first.close()
        both.to_second.close()
        await asyncio.gather(first.close(), second.close())


async def answer(reader: asyncio.StreamReader) -> bytes:
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
    length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
    return await reader.readexactly(length)


async def settled(condition: Callable[[], object]) -> None:
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to that")


def test_a_client_whose_connection_moves_is_answered_by_the_other_process() -> None:
    async def story() -> None:
        async with pair() as both:
            reader, writer = await both.client()
            writer.write(GET)
            assert await answer(reader) == b"first"
            assert both.give_all() == 1
            for _ in range(3):
                writer.write(GET)
                assert await answer(reader) == b"second"
            await settled(lambda: both.first.connection_count == 0)
            assert both.second.connection_count == 1

    run(story())


def test_what_the_client_sends_meanwhile_is_not_lost() -> None:
    async def story() -> None:
        async with pair() as both:
            reader, writer = await both.client()
            writer.write(GET)
            assert await answer(reader) == b"first"
            assert both.give_all() == 1
            writer.write(GET + GET)  # in this turn of the loop, before anybody can have taken the connection
            assert [await answer(reader), await answer(reader)] == [b"second", b"second"]

    run(story())


def test_a_connection_that_is_not_quiet_stays() -> None:
    async def story() -> None:
        async with pair() as both:
            reader, writer = await both.client()
            for piece in (b"PO", b"ST /later HTTP/1.1\r\nHost: a\r\nContent-Le", b"ngth: 2\r\n\r\na", b"b"):
                writer.write(piece)
                await asyncio.sleep(0.02)
                assert both.give_all() == 0
            await settled(lambda: both.held)
            assert both.give_all() == 0
            both.held.pop().respond(200, b"", b"late")
            assert both.give_all() == 1
            assert await answer(reader) == b"late"
            writer.write(GET)
            assert await answer(reader) == b"second"

    run(story())


def test_some_are_given_as_soon_as_they_are_quiet() -> None:
    async def story() -> None:
        async with pair() as both:
            clients = [await both.client() for _ in range(3)]
            for _, writer in clients:
                writer.write(b"GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
            await settled(lambda: len(both.held) == 3)
            both.to_second.give_some(lambda: tuple(both.first.door.connections), 2)
            await asyncio.sleep(0.02)
            assert both.second.connection_count == 0
            for exchange in both.held:
                exchange.respond(200, b"", b"late")
            await settled(lambda: both.second.connection_count == 2)
            for reader, writer in clients:
                assert await answer(reader) == b"late"
                writer.write(GET)
            assert sorted([await answer(reader) for reader, _ in clients]) == [b"first", b"second", b"second"]

    run(story())


def test_notes_arrive_in_order_and_the_end_last() -> None:
    async def story() -> None:
        async with pair() as both:
            both.to_first.tell(Load(7, 0.5))
            both.to_first.ask_to_share(3)
            both.to_first.ask_to_retire()
            both.to_first.close()
            await settled(lambda: len(both.heard) == 4)
            assert both.heard == [Load(7, 0.5), ("share", 3), "retire", "end"]

    run(story())


def test_a_connection_that_there_is_no_file_descriptor_for_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with pair() as both:
            reader, _ = await both.client()
            await settled(lambda: both.first.connection_count == 1)
            allowed, allowed_max = resource.getrlimit(resource.RLIMIT_NOFILE)
            free = os.dup(0)
            os.close(free)
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (free, allowed_max))
                both.to_second.give(next(iter(both.first.door.connections)))
                both.to_first._read()
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, allowed_max))
            assert "open files" in caplog.text
            assert await asyncio.wait_for(reader.read(), 5) == b""

    run(story())


def test_a_connection_stays_if_the_other_process_is_gone() -> None:
    async def story() -> None:
        async with pair() as both:
            reader, writer = await both.client()
            await settled(lambda: both.first.connection_count == 1)
            both.to_first.close()
            assert both.give_all() == 0
            writer.write(GET)
            assert await answer(reader) == b"first"

    run(story())


def test_a_connection_that_was_taken_once_is_not_refused_where_it_moves_to() -> None:
    async def story() -> None:
        async with pair(connections_max=0) as both:
            reader, writer = await both.client()
            await settled(lambda: both.first.connection_count == 1)
            assert both.give_all() == 1
            writer.write(GET)
            assert await answer(reader) == b"second"

    run(story())


def test_a_connection_that_was_moved_stays_though_new_ones_go_elsewhere() -> None:
    async def story() -> None:
        async with pair() as both:
            both.first.door.place = both.to_second.give
            reader, writer = await both.client()
            writer.write(GET)
            assert await answer(reader) == b"second"
            [moved] = both.second.door.connections
            assert both.to_first.give(moved)
            for _ in range(2):
                writer.write(GET)
                assert await answer(reader) == b"first"

    run(story())


def test_a_process_that_is_full_refuses_only_what_no_other_takes() -> None:
    async def story() -> None:
        async with pair() as both:
            first = both.first.door
            first.settings = replace(first.settings, connections_max=0)
            first.place = both.to_second.give
            reader, writer = await both.client()
            writer.write(GET)
            assert await answer(reader) == b"second"
            first.place = lambda connection: False
            reader, _ = await both.client()
            assert (await reader.readline()).startswith(b"HTTP/1.1 503")

    run(story())
