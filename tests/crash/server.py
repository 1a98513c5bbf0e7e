"""A `hashrange serve` in processes of its own, for tests that kill, stop and starve it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

HASHRANGE = (sys.executable, "-m", "hashrange")
EAGER = (
    "import sys; from hashrange.http import crew; crew.BUSY = crew.UNEVEN = 0.05; from hashrange.cli.main import main"
)
GROWING = (sys.executable, "-c", EAGER + "; sys.exit(main())")  # where tests run, no process has a CPU for itself
ANNOUNCED = re.compile(r"serves DynamoDB on (\S+) from")
START_SECONDS = 20.0
STOP_SECONDS = 20.0


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Our own environment without options for the server, and with the way to its source."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HASHRANGE_")}
    return {**inherited, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **(extra or {})}


def hashrange(*arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Finished:
    """Run a command to its end, in a directory where no configuration lies about."""
    done = subprocess.run(
        [*HASHRANGE, *map(str, arguments)],
        cwd=cwd or tempfile.gettempdir(),
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


class Finished(tuple[int, str, str]):
    """How a command ended: unpacks into exit code, output and errors."""

    def __new__(cls, code: int, output: str, errors: str) -> Finished:
        return super().__new__(cls, (code, output, errors))


def check_is_clean(data: Path) -> None:
    code, output, errors = hashrange("check", "--data", data)
    assert (code, output, errors) == (0, "No problems found.\n", "")


class Server:
    """A running server. Leaving its `with` kills what is left of it."""

    def __init__(
        self,
        data: Path | None,
        *options: object,
        workers: int = 1,
        port: int = 0,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        before: Callable[[], None] | None = None,
        launcher: Sequence[str] | None = None,
    ) -> None:
        """With no workers it is one process that soon has helpers."""
        place: Sequence[object] = ("--memory",) if data is None else ("--data", data)
        command = [
            *(launcher or (HASHRANGE if workers else GROWING)),
            "serve",
            "--port",
            port,
            *place,
            "--workers",
            workers,
            *options,
        ]
        self.data = data
        self.workers = workers
        self.lines: list[str] = []
        self._heard = threading.Condition()
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(
            [str(part) for part in command],
            cwd=cwd or tempfile.gettempdir(),
            env=environment(env),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=before,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        try:
            self.url = self._announced()
        except BaseException:
            self.kill()
            raise
        self.port = urlsplit(self.url).port or 0

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._heard:
                self.lines.append(line.rstrip("\n"))
                self._heard.notify_all()

    def _announced(self) -> str:
        line = self.hears(ANNOUNCED.search, START_SECONDS)
        found = ANNOUNCED.search(line)
        assert found is not None
        return found[1]

    def hears(self, wanted: Callable[[str], object], seconds: float = 10.0) -> str:
        """The first line of the log that is `wanted`, waiting for it if need be."""
        ends_at = time.monotonic() + seconds
        with self._heard:
            seen = 0
            while True:
                for line in self.lines[seen:]:
                    if wanted(line):
                        return line
                seen = len(self.lines)
                left = ends_at - time.monotonic()
                if left <= 0 or (not self._listener.is_alive() and seen == len(self.lines)):
                    raise AssertionError("never said; the log is\n" + "\n".join(self.lines))
                self._heard.wait(min(left, 0.1))

    def worker_pids(self) -> list[int]:
        """The processes that answer: the children of the parent, or the one process itself, with its helpers."""
        own = [self.process.pid] if self.workers <= 1 else []
        return own + self._children()

    def _children(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        try:
            found = children.read_text()
        except OSError:  # not Linux, or the parent is gone
            command = ["pgrep", "-P", str(self.process.pid)]
            found = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        return sorted(int(pid) for pid in found.split())

    def kill(self) -> None:
        """End every process at once, with no chance to finish anything."""
        pids = self.worker_pids()
        self.process.kill()  # the parent first, or it would start another worker
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(STOP_SECONDS)
        self._listener.join(STOP_SECONDS)  # the log ends when the last worker is gone

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end, and return its exit status."""
        self.process.send_signal(number)
        status = self.process.wait(STOP_SECONDS)
        self._listener.join(STOP_SECONDS)
        return status

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.kill()
