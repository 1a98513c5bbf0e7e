"""The systems we measure, each in one configuration: how it is installed and how it is started.

A new peer is a subclass of `Peer` and a line in `PEERS`. What we know of peers comes from their documentation, their
`--help` and their behaviour. Options are chosen to please them, as long as answers stay right.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from client import ACCESS_KEY_ID, SECRET_ACCESS_KEY
from results import Durability

HERE = Path(__file__).parent
INSTALLED = HERE / "peers"
INSTALL_SECONDS_MAX = 600


class Absent(Exception):
    """This system cannot take part, or not in this workload. Says why."""


@dataclass(frozen=True)
class Peer:
    """A system in one configuration.

    `files` says that it keeps its data in files, and `synced` that they are on the disk before a write is answered,
    which syncs.py looks at, so that this is only what we expect.
    `verifies` asks Hashrange to check signatures; who does is seen from the outside. A `slow` one is left out of what
    would take it minutes.
    """

    name: str
    files: bool = False
    synced: bool = False
    verifies: bool = False
    slow: bool = False

    @property
    def durability(self) -> Durability:
        return "synced" if self.synced else "files" if self.files else "memory"

    @property
    def is_ours(self) -> bool:
        return isinstance(self, Hashrange)

    def install(self) -> None:
        """Make the system ready to start, or raise Absent."""

    def version(self) -> str:
        raise NotImplementedError

    def command(self, port: int, directory: Path) -> list[str]:
        raise NotImplementedError

    def environment(self, port: int) -> dict[str, str]:
        return {}


class Hashrange(Peer):
    SOURCE = HERE.parent / "src"

    def version(self) -> str:
        return output_of([sys.executable, "-m", "hashrange", "version"], self.environment(0))

    def command(self, port: int, directory: Path) -> list[str]:
        storage = ["--data", str(directory / "data")] if self.files else ["--memory"]
        storage += [] if self.synced or not self.files else ["--durability", "none"]
        auth = ["--auth", "verify"] if self.verifies else []
        return [sys.executable, "-m", "hashrange", "serve", "--port", str(port), *storage, *auth]

    def environment(self, port: int) -> dict[str, str]:
        keys = {"HASHRANGE_ACCESS_KEY_ID": ACCESS_KEY_ID, "HASHRANGE_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY}
        return {"PYTHONPATH": str(self.SOURCE)} | (keys if self.verifies else {})


class Dynoxide(Peer):
    """Rust and SQLite."""

    PACKAGE = f"@dynoxide/linux-{ {'x86_64': 'x64', 'aarch64': 'arm64'}.get(platform.machine(), 'unknown') }"
    VERSION = "1.2.1"

    def install(self) -> None:
        npm_install(f"{self.PACKAGE}@{self.VERSION}", INSTALLED / "dynoxide")

    def program(self) -> str:
        return str(INSTALLED / "dynoxide" / "node_modules" / self.PACKAGE / "dynoxide")

    def version(self) -> str:
        return output_of([self.program(), "--version"])

    def command(self, port: int, directory: Path) -> list[str]:
        storage = ["--db-path", str(directory / "dynoxide.db")] if self.files else []
        return [self.program(), "--port", str(port), *storage]


class ExtendDb(Peer):
    """Rust and SQLite. Its developer mode speaks plain HTTP on loopback and still verifies signatures."""

    PACKAGE = f"@extenddb/linux-{ {'x86_64': 'x64', 'aarch64': 'arm64'}.get(platform.machine(), 'unknown') }"
    VERSION = "0.1.10"

    def install(self) -> None:
        npm_install(f"{self.PACKAGE}@{self.VERSION}", INSTALLED / "extenddb")

    def program(self) -> str:
        return str(INSTALLED / "extenddb" / "node_modules" / self.PACKAGE / "extenddb")

    def version(self) -> str:
        return output_of([self.program(), "--version"]).splitlines()[0]

    def command(self, port: int, directory: Path) -> list[str]:
        return [self.program(), "serve", "--foreground", "--port", str(port)]  # its file is in the current directory

    def environment(self, port: int) -> dict[str, str]:
        quiet = {"EXTENDDB__LOGGING__LEVEL": "error"}
        return quiet | ({} if self.files else {"EXTENDDB__STORAGE__SQLITE__PATH": ":memory:"})


class Dynalite(Peer):
    """JavaScript and LevelDB, or JavaScript alone in memory."""

    VERSION = "4.0.0"

    def install(self) -> None:
        npm_install(f"dynalite@{self.VERSION}", INSTALLED / "dynalite")

    def version(self) -> str:
        return f"dynalite {self.VERSION}, node {output_of(['node', '--version'])}"

    def command(self, port: int, directory: Path) -> list[str]:
        program = INSTALLED / "dynalite" / "node_modules" / ".bin" / "dynalite"
        storage = ["--path", str(directory / "leveldb")] if self.files else []
        delays = [text for name in ("createTableMs", "deleteTableMs", "updateTableMs") for text in (f"--{name}", "0")]
        return [str(program), "--host", "127.0.0.1", "--port", str(port), *storage, *delays]


class MiniStack(Peer):
    """Python, in memory."""

    VERSION = "1.5.33"

    def install(self) -> None:
        pip_install(f"ministack=={self.VERSION}", INSTALLED / "ministack")

    def version(self) -> str:
        return f"ministack {self.VERSION}"

    def command(self, port: int, directory: Path) -> list[str]:
        return [str(INSTALLED / "ministack" / "venv" / "bin" / "ministack")]

    def environment(self, port: int) -> dict[str, str]:
        only = {"SERVICES": "dynamodb", "IOT_MTLS_ENABLED": "0", "LOG_LEVEL": "ERROR"}
        return {"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port)} | only


class Moto(Peer):
    """Python, in memory."""

    VERSION = "5.2.5"

    def install(self) -> None:
        pip_install(f"moto[server,dynamodb]=={self.VERSION}", INSTALLED / "moto")

    def version(self) -> str:
        return f"moto {self.VERSION}"

    def command(self, port: int, directory: Path) -> list[str]:
        return [str(INSTALLED / "moto" / "venv" / "bin" / "moto_server"), "-H", "127.0.0.1", "-p", str(port)]


PEERS: tuple[Peer, ...] = (
    Hashrange("hashrange", files=True, synced=True),
    Hashrange("hashrange-memory"),
    Hashrange("hashrange-unsynced", files=True),
    Hashrange("hashrange-verify", files=True, verifies=True),  # unsynced, as the peer that verifies is
    Dynoxide("dynoxide", files=True, synced=True),
    Dynoxide("dynoxide-memory"),
    ExtendDb("extenddb", files=True),
    ExtendDb("extenddb-memory"),
    Dynalite("dynalite", files=True, slow=True),
    Dynalite("dynalite-memory", slow=True),
    MiniStack("ministack", slow=True),
    Moto("moto", slow=True),
)


def npm_install(package: str, directory: Path) -> None:
    """Install a package of an exact version once."""
    command = ["npm", "install", "--loglevel", "error", "--no-audit", "--no-fund", "--prefix", str(directory), package]
    install_once(package, directory, [command])


def pip_install(package: str, directory: Path) -> None:
    """Install a package of an exact version once, into a virtual environment of its own."""
    environment = str(directory / "venv")
    pip = [f"{environment}/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", package]
    install_once(package, directory, [[sys.executable, "-m", "venv", environment], pip])


def install_once(package: str, directory: Path, commands: list[list[str]]) -> None:
    marker = directory / ".installed"
    if marker.exists() and marker.read_text() == package:
        return
    directory.mkdir(parents=True, exist_ok=True)
    for command in commands:
        if shutil.which(command[0]) is None:
            raise Absent(f"{command[0]} is not installed")
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            raise Absent(f"installing {package} took too long") from None
        if result.returncode != 0:
            lines = (result.stderr or result.stdout).strip().splitlines() or ["no reason given"]
            raise Absent(f"installing {package} failed: {lines[-1]}")
    marker.write_text(package)


def output_of(command: list[str], environment: dict[str, str] | None = None) -> str:
    result = subprocess.run(command, capture_output=True, text=True, env=os.environ | (environment or {}))
    return result.stdout.strip() or "unknown"
