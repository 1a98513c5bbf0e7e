"""Client processes: each has some owners, loads a server with them, and tells what must be there afterwards."""

from __future__ import annotations

import multiprocessing
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from crash.client import Client
from crash.owner import Owner, Report


class Load:
    """Several client processes, spoken to from here."""

    def __init__(self, processes: int, owners_each: int, seed: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection[Any, Any]] = []
        self._processes = []
        for number in range(processes):
            ours, theirs = context.Pipe()
            numbers = list(range(number * owners_each, (number + 1) * owners_each))
            process = context.Process(target=serve, args=(theirs, numbers, seed), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def start(self, port: int) -> None:
        """Everybody writes from now on."""
        for pipe in self._pipes:
            pipe.send(("run", port))

    def end(self) -> None:
        """Tell that the server is about to go, so that nobody waits for it."""
        for pipe in self._pipes:
            pipe.send(("end", 0))

    def wait(self) -> None:
        """Wait until everybody has noticed, and hear of what went wrong."""
        for pipe in self._pipes:
            answer(pipe)

    def settle(self, port: int) -> Report:
        """What all of them know, after they have looked."""
        for pipe in self._pipes:
            pipe.send(("settle", port))
        whole = Report()
        for pipe in self._pipes:
            whole.add(answer(pipe))
        return whole

    def close(self) -> None:
        for process in self._processes:
            process.terminate()
            process.join()


def answer(pipe: Connection[Any, Any]) -> Any:
    kind, content = pipe.recv()
    assert kind == "ok", content
    return content


def serve(pipe: Connection[Any, Any], numbers: list[int], seed: str) -> None:
    """One client process: does what it is told."""
    owners = [Owner(number, seed) for number in numbers]
    while True:
        command, port = pipe.recv()
        try:
            if command == "run":
                run(pipe, owners, port)
            pipe.send(("ok", settle(owners, port) if command == "settle" else None))
        except BaseException:
            pipe.send(("failed", traceback.format_exc()))


def run(pipe: Connection[Any, Any], owners: list[Owner], port: int) -> None:
    ending = threading.Event()
    failures: list[str] = []
    threads = [threading.Thread(target=guarded(owner, port, ending, failures)) for owner in owners]
    for thread in threads:
        thread.start()
    command, _ = pipe.recv()
    assert command == "end"
    ending.set()
    for thread in threads:
        thread.join()
    assert not failures, "\n".join(failures)


def guarded(owner: Owner, port: int, ending: threading.Event, failures: list[str]) -> Callable[[], None]:
    def work() -> None:
        try:
            with Client(port, ending) as client:
                owner.run(client)
        except BaseException:
            failures.append(traceback.format_exc())

    return work


def settle(owners: list[Owner], port: int) -> Report:
    whole = Report()
    with Client(port) as client:
        for owner in owners:
            owner.settle(client)
            whole.add(owner.report())
    return whole
