"""A server that is one process as long as that is enough, and more when it is not.

The first process listens, accepts and runs the background jobs. When it is busy for a while it starts a helper, a
process on the same database, and gives it a share of its connections; when both are busy, another one, up to a helper
for each further CPU. From then on a new connection goes to whoever has the fewest, and who is busy beside somebody idle
gives some away. When there is little to do for a minute, the last helper gives its connections back and ends.

A helper without its first process ends too. A helper that dies takes only its own connections along, and one that has
stopped moving is given no more.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hashrange.http.connection import Connection
from hashrange.http.handover import Channel, Hears, Load
from hashrange.http.server import Server

if TYPE_CHECKING:
    import subprocess

log = logging.getLogger("hashrange.server")

Hire = Callable[[int, socket.socket], "subprocess.Popen[bytes]"]
"""Starts a helper: with its number, from 1, and its end of the channel."""

LOOK_SECONDS = 0.1
LATEST = 1 / 3  # the weight of one look
BUSY = 0.8  # of a CPU
BUSY_LOOKS = 2  # so often in a row before there is another helper
UNEVEN = 0.3  # a difference in load that is worth moving connections
SETTLE_LOOKS = 5  # after connections were moved, until the loads show it
IDLE = 0.1
IDLE_LOOKS = round(60 / LOOK_SECONDS)
FAILED_LOOKS = round(30 / LOOK_SECONDS)  # after a helper died, until there is another
SILENT_LOOKS = 20  # without a word from a helper, until nothing more is given to it
END_SECONDS = 0.01  # how soon a helper that was told to may have ended


class Meter:
    """How busy this process is, the last looks counting most."""

    def __init__(self) -> None:
        self._cpu_seconds, self._seconds = time.process_time(), time.perf_counter()
        self._busy = 0.0

    def read(self) -> float:
        cpu_seconds, seconds = time.process_time(), time.perf_counter()
        busy = (cpu_seconds - self._cpu_seconds) / max(seconds - self._seconds, 0.001)
        self._busy += (busy - self._busy) * LATEST
        self._cpu_seconds, self._seconds = cpu_seconds, seconds
        return self._busy


@dataclass(slots=True, eq=False)
class Helper:
    """Another process, as the first one sees it."""

    number: int
    process: subprocess.Popen[bytes]
    channel: Channel = field(init=False)
    load: Load | None = None  # None until it is ready
    retires: bool = False
    looks_unheard: int = 0

    def take_note(self, load: Load) -> None:
        self.load = load
        self.looks_unheard = 0

    @property
    def is_silent(self) -> bool:
        """Whether it has stopped moving; what is given to it would wait until it goes on, if ever."""
        return self.looks_unheard > SILENT_LOOKS

    @property
    def is_able(self) -> bool:
        """Whether it can take connections."""
        return self.load is not None and not self.retires and not self.is_silent


class Crew:
    """The helpers of this process."""

    def __init__(self, server: Server, hire: Hire, helpers_max: int) -> None:
        self._server = server
        self._door = server.door
        self._hire = hire
        self._helpers_max = helpers_max
        self.helpers: list[Helper] = []
        self._gone: list[subprocess.Popen[bytes]] = []  # not yet seen to have ended
        self._meter = Meter()
        self._looks_busy = self._looks_idle = 0
        self._looks_to_hire = 0  # until another helper may be started
        self._looks_to_move = 0  # until connections may be moved again
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(LOOK_SECONDS, self._look)

    async def close(self) -> None:
        """End the helpers, each after the requests that it has already received."""
        self._timer.cancel()
        self._door.place = None
        for helper in tuple(self.helpers):
            helper.channel.close()
            self._forget(helper)
        await self._see_them_end()

    async def _see_them_end(self) -> None:
        for _ in range(round(self._door.settings.grace_seconds / END_SECONDS) + 1):
            if all(process.poll() is not None for process in self._gone):
                return
            await asyncio.sleep(END_SECONDS)
        for process in self._gone:
            process.kill()

    # Looking

    def _look(self) -> None:
        self._timer = self._loop.call_later(LOOK_SECONDS, self._look)
        self._gone = [process for process in self._gone if process.poll() is None]
        own = Load(self._server.connection_count, self._meter.read())
        self._looks_to_hire -= self._looks_to_hire > 0
        self._looks_to_move -= self._looks_to_move > 0
        for helper in self.helpers:
            helper.looks_unheard += 1
        working = [helper for helper in self.helpers if not helper.retires]
        loads = [own, *(helper.load or Load() for helper in working)]
        self._looks_busy = self._looks_busy + 1 if min(load.busy for load in loads) >= BUSY else 0
        self._looks_idle = self._looks_idle + 1 if sum(load.busy for load in loads) < IDLE else 0
        if self._needs_another():
            self._start_helper()
        elif working and self._looks_idle > IDLE_LOOKS and self._has_room_for(working[-1]):
            self._retire(working[-1])
        elif working and not self._looks_to_move:
            self._level(own, working)

    def _needs_another(self) -> bool:
        return (
            self._looks_busy >= BUSY_LOOKS
            and not self._looks_to_hire
            and len(self.helpers) < self._helpers_max  # one that retires has its number until it is gone
            and len(self._door.active()) > 1
        )

    # Sharing

    def _place(self, connection: Connection) -> bool:
        """Give a new connection to whoever has the fewest; False if that is us."""
        fewest = min((helper for helper in self.helpers if helper.is_able), key=connections_of, default=None)
        if fewest is None or fewest.load is None:
            return False
        if fewest.load.connections >= min(self._server.connection_count, self._connections_max):
            return False
        if not fewest.channel.give(connection):
            return False
        fewest.load = Load(fewest.load.connections + 1, fewest.load.busy)
        return True

    def _level(self, own: Load, working: list[Helper]) -> None:
        """Move connections from the busiest process to the idlest."""
        ready = [(helper.load, helper) for helper in working if helper.load is not None and helper.is_able]
        idlest, to = min(ready, key=lambda pair: pair[0].busy, default=(own, None))
        busiest, busy = max(ready, key=lambda pair: pair[0].busy, default=(own, None))
        if own.busy >= BUSY and to is not None and own.busy - idlest.busy > UNEVEN:
            active = len(self._door.active())
            to.channel.give_some(self._door.active, share_of(active, own, idlest, self._connections_max))
            self._looks_to_move = SETTLE_LOOKS
        elif busiest.busy >= BUSY and busy is not None and busiest.busy - own.busy > UNEVEN:
            busy.channel.ask_to_share(share_of(busiest.connections, busiest, own, self._connections_max))
            self._looks_to_move = SETTLE_LOOKS

    @property
    def _connections_max(self) -> int:
        """Of each process."""
        return self._door.settings.connections_max

    def _has_room_for(self, helper: Helper) -> bool:
        """Whether we can take all that it has."""
        return self._server.connection_count + connections_of(helper) <= self._connections_max

    # Helpers come and go

    def _start_helper(self) -> None:
        number = min(set(range(1, self._helpers_max + 1)) - {helper.number for helper in self.helpers})
        try:
            process, ours = self._hired(number)
        except OSError as error:
            log.warning("a helper process could not be started: %s", error)
            self._looks_to_hire = FAILED_LOOKS
            return
        helper = Helper(number, process)
        helper.channel = Channel(
            ours, Hears(connection=self._server.adopt, load=helper.take_note, end=lambda: self._lost(helper))
        )
        self.helpers.append(helper)
        self._looks_busy = self._looks_idle = 0
        self._door.place = self._place
        log.info("busy: process %d helps from now on", process.pid)

    def _hired(self, number: int) -> tuple[subprocess.Popen[bytes], socket.socket]:
        """A new process, and our end of the channel to it."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                return self._hire(number, theirs), ours
            except OSError:
                ours.close()
                raise

    def _retire(self, helper: Helper) -> None:
        log.info("idle: process %d need not help any more", helper.process.pid)
        helper.retires = True
        helper.channel.ask_to_retire()
        self._looks_idle = 0

    def _lost(self, helper: Helper) -> None:
        if not helper.retires:
            log.warning("process %d, which helped, has ended; its connections are lost", helper.process.pid)
            self._looks_to_hire = FAILED_LOOKS
        self._forget(helper)

    def _forget(self, helper: Helper) -> None:
        self.helpers.remove(helper)
        self._gone.append(helper.process)


class Apprentice:
    """This process as a helper of another."""

    def __init__(self, server: Server, end: socket.socket, stop: Callable[[], None]) -> None:
        self._server = server
        self._stop = stop
        self._meter = Meter()
        self._retires = False
        self._loop = asyncio.get_running_loop()
        self._channel = Channel(end, Hears(connection=server.adopt, share=self._share, retire=self._retire, end=stop))
        self._look()

    async def close(self) -> None:
        self._timer.cancel()
        self._channel.close()

    def _look(self) -> None:
        self._timer = self._loop.call_later(LOOK_SECONDS, self._look)
        self._channel.tell(Load(self._server.connection_count, self._meter.read()))
        if self._retires:
            self._give_back()

    def _share(self, count: int) -> None:
        self._channel.give_some(self._server.door.active, count)

    def _retire(self) -> None:
        self._retires = True
        self._give_back()

    def _give_back(self) -> None:
        for connection in tuple(self._server.door.connections):
            self._channel.give(connection)
        if not self._server.connection_count:
            self._stop()


def connections_of(helper: Helper) -> int:
    return 0 if helper.load is None else helper.load.connections


def share_of(connections: int, busy: Load, idle: Load, connections_max: int) -> int:
    """How many of its connections a busy process gives to an idle one, for both to have as much to do."""
    if connections <= 1:
        return 0
    share = max(1, round(connections * (busy.busy - idle.busy) / busy.busy / 2))
    return max(0, min(share, connections_max - idle.connections))
