"""The systems we measure, each in one configuration, and the running process of one.

A new peer is a subclass of `Peer` that says how to install it and how to start it, and a line in `PEERS`.
"""

from __future__ import annotations

import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from client import Client, RequestFailed

HERE = Path(__file__).parent
INSTALLED = HERE / "peers"
STARTING_SECONDS_MAX = 20.0
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Absent(Exception):
    """This system cannot take part, or not in this workload. Says why."""


@dataclass(frozen=True)
class Peer:
    """A system in one configuration. `durable` means that an answered write is on the disk."""

    name: str
    durable: bool

    def install(self) -> None:
        """Make the system ready to start, or raise Absent."""

    def version(self) -> str:
        raise NotImplementedError

    def command(self, port: int, directory: Path) -> list[str]:
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        return {}


class Hashrange(Peer):
    SOURCE = HERE.parent / "src"

    def version(self) -> str:
        return _output([sys.executable, "-m", "hashrange", "version"], self.environment())

    def command(self, port: int, directory: Path) -> list[str]:
        storage = ["--data", str(directory / "data")] if self.durable else ["--memory"]
        return [sys.executable, "-m", "hashrange", "serve", "--port", str(port), *storage]

    def environment(self) -> dict[str, str]:
        return {"PYTHONPATH": str(self.SOURCE)}


class Dynoxide(Peer):
    """Rust and SQLite. With a file it syncs every write; without one it keeps everything in memory."""

    PACKAGE = f"@dynoxide/linux-{ {'x86_64': 'x64', 'aarch64': 'arm64'}.get(platform.machine(), 'unknown') }"
    VERSION = "1.2.1"

    def install(self) -> None:
        npm_install(f"{self.PACKAGE}@{self.VERSION}", INSTALLED / "dynoxide")

    def program(self) -> str:
        return str(INSTALLED / "dynoxide" / "node_modules" / self.PACKAGE / "dynoxide")

    def version(self) -> str:
        return _output([self.program(), "--version"])

    def command(self, port: int, directory: Path) -> list[str]:
        storage = ["--db-path", str(directory / "dynoxide.db")] if self.durable else []
        return [self.program(), "--port", str(port), *storage]


PEERS: tuple[Peer, ...] = (
    Hashrange("hashrange", durable=True),
    Hashrange("hashrange-memory", durable=False),
    Dynoxide("dynoxide", durable=True),
    Dynoxide("dynoxide-memory", durable=False),
)


def npm_install(package: str, directory: Path) -> None:
    """Install a package of an exact version once."""
    marker = directory / ".installed"
    if marker.exists() and marker.read_text() == package:
        return
    if shutil.which("npm") is None:
        raise Absent("npm is not installed")
    directory.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--loglevel", "error", "--no-audit", "--no-fund", "--prefix", str(directory), package]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        raise Absent(f"npm install {package} took too long") from None
    if result.returncode != 0:
        lines = (result.stderr or result.stdout).strip().splitlines() or ["npm failed"]
        raise Absent(f"npm install {package}: {lines[0]}")
    marker.write_text(package)


class Server:
    """A running peer on a free loopback port, with its data in a directory of its own. A context manager."""

    def __init__(self, peer: Peer, directory: Path) -> None:
        self.peer = peer
        self.directory = directory
        self.port = free_port()
        self.start_seconds = 0.0

    def __enter__(self) -> Server:
        self.directory.mkdir(parents=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HASHRANGE_")}
        begun = time.perf_counter()
        with (self.directory / "log").open("wb") as log:
            self.process = subprocess.Popen(
                self.peer.command(self.port, self.directory),
                env=environment | self.peer.environment(),
                cwd=self.directory,  # so that no configuration file is picked up by chance
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self._wait_until_it_answers(begun + STARTING_SECONDS_MAX)
        except BaseException:
            self.__exit__()
            raise
        self.start_seconds = time.perf_counter() - begun
        return self

    def __exit__(self, *_: object) -> None:
        # The process leads a session of its own: this ends it and its children, and nothing else.
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def client(self) -> Client:
        return Client(self.port)

    def _wait_until_it_answers(self, deadline: float) -> None:
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

    def _pids(self) -> list[int]:
        pids = [self.process.pid]
        for pid in pids:  # grows while we walk it
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                pids += map(int, children.read_text().split())
        return pids


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _output(command: list[str], environment: dict[str, str] | None = None) -> str:
    result = subprocess.run(command, capture_output=True, text=True, env=os.environ | (environment or {}))
    return result.stdout.strip() or "unknown"
