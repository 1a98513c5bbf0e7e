"""Several worker processes behind one port, and the parent that keeps them running.

The parent owns the listening sockets for as long as it lives and does nothing else: it opens no store, starts no
thread and no event loop, so a worker can be a plain fork of it. Each worker accepts from its own socket. When a
worker dies, the connections waiting on that socket stay there until its successor accepts them.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

RunWorker = Callable[[int, socket.socket], int]
Log = Callable[[str], None]

CANNOT_START = 2  # the status of a worker that has said why it cannot work; trying again will not help

SETTLED_SECONDS = 1.0  # a worker that dies younger than this has probably not started properly
RESTART_SECONDS_MIN = 0.1
RESTART_SECONDS_MAX = 10.0


def stop_signals() -> set[signal.Signals]:
    """The signals that tell a server to stop. One whose terminal is closed stops too, unless nohup said not to."""
    stays = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return {signal.SIGTERM, signal.SIGINT} | (set() if stays else {signal.SIGHUP})


def run_workers(
    sockets: Sequence[socket.socket],
    run_worker: RunWorker,
    *,
    log: Log,
    monotonic: Callable[[], float] = time.monotonic,
) -> int:
    """Run one worker process per socket until told to stop (see `stop_signals`); returns the exit status.

    `run_worker(index, socket)` runs in the child and returns its exit status. It is told to stop by the same
    signal, which it hears once, and also when the parent is killed. A worker that dies is replaced, unless it says
    that it cannot start and no other one is left: then the parent gives up, with the same status.
    """
    return Supervisor(sockets, run_worker, log=log, monotonic=monotonic).run()


@dataclass(slots=True)
class Worker:
    """One of the worker processes, and its history. Without a `pid` it is to be started at `due_at`."""

    index: int
    socket: socket.socket
    pid: int | None = None
    started_at: float = 0.0
    due_at: float = 0.0
    early_deaths: int = 0


class Supervisor:
    def __init__(
        self, sockets: Sequence[socket.socket], run_worker: RunWorker, *, log: Log, monotonic: Callable[[], float]
    ) -> None:
        self._workers = [Worker(index, sock) for index, sock in enumerate(sockets)]
        self._run_worker = run_worker
        self._log = log
        self._monotonic = monotonic
        self._stop_signals = stop_signals()
        self._signals = self._stop_signals | {signal.SIGCHLD}
        self._stopping = False
        self._status = 0
        self._wakeup_read, self._wakeup_write = socket.socketpair()
        self._wakeup_read.setblocking(False)
        self._wakeup_write.setblocking(False)
        self._lifeline_read, self._lifeline_write = os.pipe()  # ends in the workers when the parent does

    def run(self) -> int:
        previous_wakeup = signal.set_wakeup_fd(self._wakeup_write.fileno(), warn_on_full_buffer=False)
        previous = {number: signal.signal(number, _ignored) for number in self._signals}
        try:
            while not self._stopping or any(worker.pid for worker in self._workers):
                self._start_due()
                self._hear(self._seconds_to_next_start())
                self._reap()
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(previous_wakeup)
            self._close()
        return self._status

    def _close(self) -> None:
        self._wakeup_read.close()
        self._wakeup_write.close()
        os.close(self._lifeline_read)
        os.close(self._lifeline_write)

    # Hearing

    def _hear(self, timeout_seconds: float | None) -> None:
        """Wait for a signal: a worker has ended, or we are told to stop."""
        select.select([self._wakeup_read], [], [], timeout_seconds)
        try:
            numbers = set(self._wakeup_read.recv(4096))
        except BlockingIOError:
            return
        for number in numbers & self._stop_signals:
            self._stopping = True
            self._pass_on(number)

    def _pass_on(self, number: int) -> None:
        for worker in self._workers:
            if worker.pid is not None:
                os.kill(worker.pid, number)  # not reaped yet, so the number is still this worker's

    def _reap(self) -> None:
        for worker in self._workers:
            if worker.pid is not None:
                pid, status = os.waitpid(worker.pid, os.WNOHANG)
                if pid:
                    self._bury(worker, status)

    def _bury(self, worker: Worker, status: int) -> None:
        now = self._monotonic()
        pid, worker.pid = worker.pid, None
        settled = now - worker.started_at >= SETTLED_SECONDS
        worker.early_deaths = 0 if settled else worker.early_deaths + 1
        worker.due_at = now + _restart_seconds(worker.early_deaths)
        if not self._stopping and self._is_hopeless(status):
            self._stopping, self._status = True, CANNOT_START
        if not self._stopping:
            self._log(
                f"Worker {worker.index} (process {pid}) {_how_it_ended(status)};"
                f" starting another in {worker.due_at - now:.1f} s"
            )

    def _is_hopeless(self, status: int) -> bool:
        nobody_left = all(worker.pid is None for worker in self._workers)
        return nobody_left and os.waitstatus_to_exitcode(status) == CANNOT_START

    # Starting

    def _seconds_to_next_start(self) -> float | None:
        if self._stopping:
            return None
        due = [worker.due_at for worker in self._workers if worker.pid is None]
        return max(0.0, min(due) - self._monotonic()) if due else None

    def _start_due(self) -> None:
        now = self._monotonic()
        for worker in self._workers:
            if worker.pid is None and worker.due_at <= now and not self._stopping:
                self._start(worker, now)

    def _start(self, worker: Worker, now: float) -> None:
        """Fork, with signals held back until the child has put aside the parent's way of hearing them."""
        sys.stdout.flush()
        sys.stderr.flush()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, self._signals)
        try:
            pid = os.fork()
            if pid == 0:
                self._become(worker, mask)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        worker.pid = pid
        worker.started_at = now

    def _become(self, worker: Worker, mask: set[int | signal.Signals]) -> NoReturn:
        """In the child: run the worker, and never return into the parent's code."""
        status = 1
        try:
            self._leave_the_parent(worker)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            status = self._run_worker(worker.index, worker.socket)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _leave_the_parent(self, worker: Worker) -> None:
        os.setpgid(0, 0)  # Ctrl-C in a terminal goes to a whole group; the parent passes it on, once
        signal.set_wakeup_fd(-1)
        for number in self._signals:
            signal.signal(number, signal.SIG_DFL)
        self._wakeup_read.close()
        self._wakeup_write.close()
        os.close(self._lifeline_write)
        for other in self._workers:
            if other is not worker:
                other.socket.close()
        threading.Thread(target=_end_with_parent, args=(self._lifeline_read,), daemon=True).start()


def _end_with_parent(lifeline: int) -> None:
    """Wait for the parent to be gone, however it went; a worker without one would keep the port taken."""
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _ignored(number: int, frame: object) -> None:
    """Python runs this when a signal arrives; what is done about it is decided where the wakeup is read."""


def _restart_seconds(early_deaths: int) -> float:
    """At once for a worker that had been well; longer and longer for one that dies as it starts."""
    if early_deaths == 0:
        return 0.0
    return min(RESTART_SECONDS_MIN * 2.0 ** min(early_deaths - 1, 10), RESTART_SECONDS_MAX)


def _how_it_ended(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"exited with status {code}" if code >= 0 else f"was killed by {signal.Signals(-code).name}"
