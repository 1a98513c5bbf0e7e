"""A server that is too busy for one process has helpers, and lets them go when there is little to do."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from hashrange.capacity.board import SharedBoard
from hashrange.cli.helper import hire
from hashrange.cli.main import build_parser
from hashrange.cli.options import Options, settle
from hashrange.cli.serve import processes_possible
from hashrange.http import crew, listen, server
from hashrange.http.cpus import cpus, quota
from hashrange.http.crew import Crew, share_of
from hashrange.http.handover import Load
from hashrange.http.server import Server

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
NEVER = 1_000_000


def options(*arguments: str) -> Options:
    return settle(build_parser().parse_args(["serve", *arguments]), {})


@asynccontextmanager
async def serving(data: Path, helpers_max: int) -> AsyncIterator[tuple[Server, Crew, int]]:
    """A server that answers with the word first, whose helpers are real ones, on a database."""
    board = SharedBoard(helpers_max + 1)
    [listening] = listen.bind("127.0.0.1", 0)
    running = await server.serve(lambda exchange: exchange.respond(200, b"", b"first"), [listening])
    its_crew = Crew(
        running, partial(hire, options("--data", str(data)), board.descriptor, helpers_max + 1), helpers_max
    )
    try:
        yield running, its_crew, listening.getsockname()[1]
    finally:
        await asyncio.gather(its_crew.close(), running.close())
        os.close(board.descriptor)


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def asks(self) -> bytes:
        self.writer.write(GET)
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 10)
        return await self.reader.readexactly(int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0]))


async def clients(port: int, count: int) -> list[Client]:
    return [Client(*await asyncio.open_connection("127.0.0.1", port)) for _ in range(count)]


async def answers_of(asking: list[Client]) -> int:
    """How many are answered by a helper."""
    return sum([await client.asks() != b"first" for client in asking])


async def until(condition: Callable[[], object]) -> None:
    for _ in range(1500):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to that")


@pytest.fixture
def always_busy(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(crew, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(crew, "BUSY", -1.0)
    monkeypatch.setattr(crew, "IDLE_LOOKS", NEVER)
    monkeypatch.setattr(crew, "UNEVEN", NEVER)
    return monkeypatch


def test_a_busy_process_gets_helpers_and_new_connections_go_to_them(
    tmp_path: Path, always_busy: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with serving(tmp_path / "data", 2) as (running, its_crew, port):
            first = await clients(port, 3)
            assert await answers_of(first) == 0
            await until(lambda: len(its_crew.helpers) == 2 and all(helper.load for helper in its_crew.helpers))
            later = await clients(port, 6)
            assert await answers_of(later) == 6  # three each, until they have as many as the first has
            assert running.connection_count == 3
            assert await answers_of(first) == 0

    server.run(story())


def test_a_helper_that_is_full_is_given_no_new_connections(tmp_path: Path, always_busy: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with serving(tmp_path / "data", 1) as (running, its_crew, port):
            first = await clients(port, 2)
            assert await answers_of(first) == 0
            await until(lambda: any(helper.load for helper in its_crew.helpers))
            running.door.settings = replace(running.door.settings, connections_max=2)
            assert await answers_of(await clients(port, 2)) == 2
            await until(lambda: crew.connections_of(its_crew.helpers[0]) == 2)
            [refused] = await clients(port, 1)
            assert b"503" in await asyncio.wait_for(refused.reader.readline(), 10)

    server.run(story())


def test_a_busy_process_gives_a_helper_its_share_of_what_is_there(
    tmp_path: Path, always_busy: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with serving(tmp_path / "data", 1) as (_, its_crew, port):
            asking = await clients(port, 8)
            assert await answers_of(asking) == 0
            await until(lambda: any(helper.load for helper in its_crew.helpers))
            always_busy.setattr(crew, "SETTLE_LOOKS", NEVER)  # or there is another share before we have looked
            always_busy.setattr(crew, "UNEVEN", -2.0)
            always_busy.setattr(crew.Meter, "read", lambda meter: 1.0)
            moved = 0
            for _ in range(100):
                moved = await answers_of(asking)
                if moved:
                    break
                await asyncio.sleep(0.02)
            always_busy.setattr(crew, "UNEVEN", NEVER)
            assert 1 <= moved <= 4

    server.run(story())


def test_an_idle_helper_gives_its_connections_back_and_ends(tmp_path: Path, always_busy: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with serving(tmp_path / "data", 1) as (running, its_crew, port):
            first = await clients(port, 2)
            assert await answers_of(first) == 0
            await until(lambda: any(helper.load for helper in its_crew.helpers))
            helper = its_crew.helpers[0]
            later = await clients(port, 2)
            assert await answers_of(later) == 2
            always_busy.setattr(crew, "BUSY", NEVER)
            always_busy.setattr(crew, "IDLE", NEVER)
            always_busy.setattr(crew, "IDLE_LOOKS", 1)
            await until(lambda: not its_crew.helpers)
            assert await answers_of(first + later) == 0
            assert running.connection_count == 4
            await until(lambda: helper.process.poll() is not None)
            assert helper.process.returncode == 0

    server.run(story())


def test_a_helper_that_is_killed_is_missed_and_the_others_go_on(
    tmp_path: Path, always_busy: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with serving(tmp_path / "data", 1) as (_, its_crew, port):
            first = await clients(port, 2)
            assert await answers_of(first) == 0
            await until(lambda: any(helper.load for helper in its_crew.helpers))
            os.kill(its_crew.helpers[0].process.pid, signal.SIGKILL)
            await until(lambda: not its_crew.helpers)
            assert await answers_of(first + await clients(port, 2)) == 0

    server.run(story())


def test_a_helper_that_does_not_move_is_given_no_connections(tmp_path: Path, always_busy: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with serving(tmp_path / "data", 1) as (_, its_crew, port):
            first = await clients(port, 2)
            assert await answers_of(first) == 0
            await until(lambda: any(helper.load for helper in its_crew.helpers))
            helper = its_crew.helpers[0]
            os.kill(helper.process.pid, signal.SIGSTOP)
            try:
                await until(lambda: helper.is_silent)
                assert await answers_of(await clients(port, 4)) == 0
                os.kill(helper.process.pid, signal.SIGCONT)
                await until(lambda: not helper.is_silent)
                assert await answers_of(await clients(port, 4)) > 0
            finally:
                helper.process.kill()

    server.run(story())


def test_no_helper_is_hired_while_the_last_one_is_still_leaving(
    tmp_path: Path, always_busy: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        failures: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: failures.append(context))
        async with serving(tmp_path / "data", 1) as (_, its_crew, port):
            first = await clients(port, 2)
            assert await answers_of(first) == 0
            await until(lambda: any(helper.load for helper in its_crew.helpers))
            [slow] = await clients(port, 1)
            assert await answers_of([slow]) == 1
            slow.writer.write(GET[:2])  # which its helper waits for
            await asyncio.sleep(0.2)
            leaving = its_crew.helpers[0]
            its_crew._retire(leaving)
            its_crew._looks_busy = crew.BUSY_LOOKS
            await asyncio.sleep(4 * crew.LOOK_SECONDS)
            assert its_crew.helpers == [leaving]
            slow.writer.write(GET[2:])
            await until(lambda: its_crew.helpers != [leaving])
        assert failures == []

    server.run(story())


def test_a_helper_that_cannot_be_started_is_told_once_and_not_tried_again_soon(
    tmp_path: Path, always_busy: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_more_files() -> tuple[socket.socket, socket.socket]:
        raise OSError(errno.EMFILE, "Too many open files")

    async def story() -> None:
        failures: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: failures.append(context))
        async with serving(tmp_path / "data", 1) as (_, its_crew, port):
            asking = await clients(port, 2)
            with always_busy.context() as now:
                now.setattr(socket, "socketpair", no_more_files)
                await until(lambda: caplog.messages or failures)
                await asyncio.sleep(4 * crew.LOOK_SECONDS)
            assert its_crew.helpers == []
            assert await answers_of(asking) == 0
        assert failures == []
        [told] = caplog.messages
        assert "Too many open files" in told

    server.run(story())


def test_the_end_of_a_server_is_the_end_of_its_helpers(tmp_path: Path, always_busy: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with serving(tmp_path / "data", 1) as (_, its_crew, port):
            asking = await clients(port, 2)
            assert await answers_of(asking) == 0
            await until(lambda: any(helper.load for helper in its_crew.helpers))
            process = its_crew.helpers[0].process
        assert process.returncode == 0

    server.run(story())


@pytest.mark.parametrize(
    ("connections", "busy", "idle", "share"), [(16, 1.0, 0.0, 8), (16, 1.0, 0.5, 4), (2, 1.0, 0.0, 1), (1, 1.0, 0.0, 0)]
)
def test_a_share_levels_the_load(connections: int, busy: float, idle: float, share: int) -> None:
    assert share_of(connections, Load(connections, busy), Load(0, idle), connections_max=100) == share


@pytest.mark.parametrize(("has", "share"), [(0, 8), (13, 7), (20, 0), (21, 0)])
def test_a_share_is_no_more_than_there_is_room_for(has: int, share: int) -> None:
    assert share_of(16, Load(16, 1.0), Load(has, 0.0), connections_max=20) == share


def test_a_helper_stays_as_long_as_its_connections_would_be_too_many_for_the_first(
    tmp_path: Path, always_busy: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with serving(tmp_path / "data", 1) as (running, its_crew, port):
            first = await clients(port, 2)
            assert await answers_of(first) == 0
            await until(lambda: any(helper.load for helper in its_crew.helpers))
            later = await clients(port, 2)
            assert await answers_of(later) == 2
            helper = its_crew.helpers[0]
            await until(lambda: helper.load == Load(2, helper.load.busy) if helper.load else False)
            running.door.settings = replace(running.door.settings, connections_max=3)
            always_busy.setattr(crew, "BUSY", NEVER)
            always_busy.setattr(crew, "IDLE", NEVER)
            always_busy.setattr(crew, "IDLE_LOOKS", 1)
            await asyncio.sleep(0.5)
            assert its_crew.helpers == [helper]
            assert not helper.retires
            first.pop().writer.close()
            await until(lambda: not its_crew.helpers)
            assert await answers_of(first + later) == 0

    server.run(story())


@pytest.mark.parametrize(
    "arguments", [("--memory",), ("--dev-clock",), ("--tls-self-signed",), ("--tls-cert", "a", "--tls-key", "b")]
)
def test_a_server_whose_state_cannot_be_shared_stays_one_process(arguments: tuple[str, ...]) -> None:
    assert processes_possible(options(*arguments)) == 1


def test_a_server_that_was_not_told_may_grow_to_a_process_for_each_cpu() -> None:
    assert options().workers == 0
    assert processes_possible(options()) == cpus()


@pytest.mark.parametrize(
    ("written", "allowed"), [("max 100000", 4), ("200000 100000", 2), ("50000 100000", 0), ("", 4), ("nonsense", 4)]
)
def test_the_quota_of_a_container_counts(tmp_path: Path, written: str, allowed: int) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(written)
    assert quota(4, file) == allowed
    assert quota(4, tmp_path / "missing") == 4
