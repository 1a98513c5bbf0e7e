"""A running system: its process, its directory, and what both cost."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from client import Client, RequestFailed
from peers import Absent, Peer

STARTING_SECONDS_MAX = 60.0
STOPPING_SECONDS_MAX = 20.0
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Server:
    """A peer on a free loopback port, with its data in a directory of its own. A context manager that removes both."""

    def __init__(self, peer: Peer, directory: Path, *, wrapper: Sequence[str] = ()) -> None:
        self.peer = peer
        self.directory = directory
        self.wrapper = wrapper
        self.port = 0
        self.start_seconds = 0.0
        self.is_warm = False  # whether it has been under load
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def start(self) -> None:
        """Start, on what is in the directory, and wait for the first answer."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self.is_warm = False
        self.port = free_port()
        begun = time.perf_counter()
        with (self.directory / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [*self.wrapper, *self.peer.command(self.port, self.directory)],
                env=self._environment(),
                cwd=self.directory,  # so that no configuration file is picked up by chance
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self._wait_until_it_answers(begun + STARTING_SECONDS_MAX)
        except BaseException:
            self.stop()
            raise
        self.start_seconds = time.perf_counter() - begun

    def _environment(self) -> dict[str, str]:
        # Nobody runs a server with Python kept from remembering what it compiled; who develops one might.
        ours = ("HASHRANGE_", "EXTENDDB_", "AWS_", "PYTHONDONTWRITEBYTECODE")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        return inherited | {"HOME": str(self.directory)} | self.peer.environment(self.port)

    def stop(self) -> None:
        """The process leads a session of its own: this ends it and its children, and nothing else."""
        if self.process is None or self.process.poll() is not None:
            return
        for pid in self._pids()[:0:-1] if self.wrapper else ():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)  # a tracer would not pass it on
        self.process.terminate()
        try:
            self.process.wait(timeout=STOPPING_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def client(self) -> Client:
        return Client(self.port)

    def _wait_until_it_answers(self, deadline: float) -> None:
        assert self.process is not None
        while time.perf_counter() < deadline:
            if self.process.poll() is not None:
                raise Absent(f"{self.peer.name} ended at once: {self._last_words()}")
            try:
                with self.client() as client:
                    client.call("ListTables", {})
                return
            except (OSError, RequestFailed):
                time.sleep(0.002)
        raise Absent(f"{self.peer.name} did not answer: {self._last_words()}")

    def _last_words(self) -> str:
        lines = (self.directory / "log").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def cpu_seconds(self) -> float:
        """Processor time used so far by the process and its children."""
        ticks = 0
        for pid in self._pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / TICKS_PER_SECOND

    def resident_bytes(self) -> int:
        """Resident memory now, mapped files included."""
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self._pids())
        return pages * os.sysconf("SC_PAGE_SIZE")

    def disk_bytes(self) -> int:
        """What the data takes on the disk; holes in files take nothing."""
        files = [path for path in self.directory.rglob("*") if path.is_file() and path.name != "log"]
        return sum(path.stat().st_blocks * 512 for path in files)

    def _pids(self) -> list[int]:
        assert self.process is not None
        pids = [self.process.pid]
        for pid in pids:  # grows while we walk it
            with suppress(FileNotFoundError, ProcessLookupError):  # it may end meanwhile
                for children in Path(f"/proc/{pid}/task").glob("*/children"):
                    pids += map(int, children.read_text().split())
        return pids


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])
