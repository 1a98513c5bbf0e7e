"""One run: every system takes its turn in every round, and the order turns from round to round."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypeVar

import items
from client import RequestFailed
from load import Invalid, fill, measure, unknown_operation_is_absence, wait_until_active
from peers import Absent, Peer
from request_files import RequestFiles
from results import Cell, Filled, Results, System, describe_machine
from server import Server
from syncs import syncs_per_write
from workloads import HEADLINE, HEADLINE_SOME, HEADLINE_UNSYNCED, Dataset, Workload

IDLE_SECONDS = 0.5
TABLES = 3  # made one after the other to see what one costs

T = TypeVar("T")


class Bench:
    def __init__(self, options: argparse.Namespace, settings: dict[str, Any], directory: Path) -> None:
        self.options = options
        self.directory = directory
        self.servers = 0
        self.files = RequestFiles(directory)
        self.seeded: dict[tuple[str, str], Path] = {}
        self.results = Results(settings, describe_machine(directory))

    def run(self, workloads: Sequence[Workload]) -> Results:
        peers = [peer for peer in self.options.systems if self.is_ready(peer)]
        for turn in range(self.options.rounds):
            for peer in rotated(peers, turn):
                self.measure_start(peer)
        kept = [workload for workload in workloads if workload.state != "fresh"]
        for name in dict.fromkeys(workload.dataset.name for workload in kept):
            group = [workload for workload in kept if workload.dataset.name == name]
            self.measure_kept(sorted(group, key=lambda workload: workload.writes), peers)
        for workload in workloads:
            if workload.state == "fresh":
                self.measure_fresh(workload, peers)
        return self.results

    # Before the load ------------------------------------------------------------------------------------------------

    def is_ready(self, peer: Peer) -> bool:
        """Install a system and start it once, which also caches what the first start needs; see what it does."""
        system = System(peer.name, durability=peer.durability)
        self.results.systems.append(system)
        self.tell(f"installing {peer.name}")
        try:
            peer.install()
            with self.server(peer) as server, server.client() as client:
                system.version = peer.version()
                system.verifies = client.is_verified()
        except Absent as reason:
            system.absent = str(reason)
            return False
        if peer.files:
            system.syncs_per_write = syncs_per_write(peer, self.new_directory(peer))
        if system.syncs_per_write is not None:
            system.durability = "synced" if system.syncs_per_write >= 1 else "files"
        return True

    def measure_start(self, peer: Peer) -> None:
        system = self.system(peer)
        with self.noting_absence(system), self.server(peer) as server:
            system.start_seconds.append(server.start_seconds)
            time.sleep(IDLE_SECONDS)
            system.idle_bytes.append(server.resident_bytes())
            with server.client() as client, unknown_operation_is_absence():
                begun = time.perf_counter()
                for each in range(TABLES):
                    client.call("CreateTable", items.table("pk", name=f"table-{each}"))
                    wait_until_active(client, f"table-{each}")
                system.create_table_seconds.append((time.perf_counter() - begun) / TABLES)

    # Workloads ------------------------------------------------------------------------------------------------------

    def measure_kept(self, workloads: Sequence[Workload], peers: Sequence[Peer]) -> None:
        """Each system is filled once and serves every workload on these data, those that write after the others."""
        with ExitStack() as stack:
            kept: dict[str, Server] = {}
            troubles: dict[str, Exception] = {}
            for peer in peers:
                if any(self.connections_of(workload, peer) for workload in workloads):
                    try:
                        kept[peer.name] = self.filled_server(stack, peer, workloads[0].dataset)
                    except TROUBLES as trouble:
                        troubles[peer.name] = trouble
            for workload in workloads:
                for cells in self.new_cells(workload, peers):
                    for cell in self.in_turn(cells):
                        with noting_trouble(cell):
                            if cell.system in troubles:
                                raise troubles[cell.system]
                            self.measure(kept[cell.system], workload, cell)

    def filled_server(self, stack: ExitStack, peer: Peer, dataset: Dataset) -> Server:
        if dataset.large and peer.slow:
            raise Absent("filling takes too long")
        self.tell(f"{dataset.name}: filling {peer.name}")
        server = stack.enter_context(self.server(peer))
        begun = time.perf_counter()
        fill(server, dataset)
        fill_seconds, resident_bytes = time.perf_counter() - begun, server.resident_bytes()
        copies = 1 + len(dataset.table.get("GlobalSecondaryIndexes", ()))  # an index holds whole items
        data_bytes = copies * sum(map(items.size_bytes, dataset.items()))
        filled = Filled(dataset.name, data_bytes, fill_seconds, resident_bytes)
        self.system(peer).filled.append(filled if not peer.files else restarted(server, filled))
        return server

    def measure_fresh(self, workload: Workload, peers: Sequence[Peer]) -> None:
        """Each measurement gets a new server on new files."""
        for cells in self.new_cells(workload, peers):
            for cell in self.in_turn(cells):
                peer = next(peer for peer in peers if peer.name == cell.system)
                with noting_trouble(cell), self.fresh_server(peer, workload.dataset) as server:
                    self.measure(server, workload, cell)
        for path in self.seeded.values():
            shutil.rmtree(path)
        self.seeded.clear()

    @contextmanager
    def fresh_server(self, peer: Peer, dataset: Dataset) -> Iterator[Server]:
        """A server that holds exactly the first items: what has files is filled once, and then the files are copied."""
        directory, key = self.new_directory(peer), (peer.name, dataset.name)
        if peer.files and dataset.items is not tuple and key not in self.seeded:
            server = Server(peer, self.new_directory(peer))
            self.seeded[key] = server.directory
            server.start()
            try:
                fill(server, dataset)
            finally:
                server.stop()
        if key in self.seeded:
            shutil.copytree(self.seeded[key], directory)
        with Server(peer, directory) as server:
            if key not in self.seeded:
                fill(server, dataset)
            yield server

    def measure(self, server: Server, workload: Workload, cell: Cell) -> None:
        turn = f"round {len(cell.samples) + 1} of {self.options.rounds}"
        self.tell(f"{cell.title}, {cell.connections} connections, {turn}: {cell.system}")
        options = {"connections": cell.connections, "seconds": self.options.duration}
        cell.samples.append(measure(server, workload, self.files, **options))

    # What is measured -----------------------------------------------------------------------------------------------

    def connections_of(self, workload: Workload, peer: Peer) -> Sequence[int]:
        """At how many connections a system takes part in a workload; in the short run, many do only in some."""
        if not self.options.headline:
            wanted: Sequence[int] = self.options.connections
            return wanted
        counts = HEADLINE[workload.name]
        if peer.name in HEADLINE_SOME:
            return counts[:1] if workload.name in HEADLINE_SOME[peer.name] else ()
        needs_sync = workload.writes and workload.name not in HEADLINE_UNSYNCED
        return counts if self.system(peer).durability == "synced" or not needs_sync else ()

    def new_cells(self, workload: Workload, peers: Sequence[Peer]) -> list[list[Cell]]:
        """The cells of a workload, those of one number of connections together."""
        cells = [
            Cell(peer.name, workload.name, workload.title, workload.writes, count)
            for peer in peers
            for count in self.connections_of(workload, peer)
        ]
        self.results.cells += cells
        counts = sorted({cell.connections for cell in cells})
        return [[cell for cell in cells if cell.connections == count] for count in counts]

    def in_turn(self, cells: Sequence[Cell]) -> Iterator[Cell]:
        for turn in range(self.options.rounds):
            yield from (cell for cell in rotated(cells, turn) if not cell.absent and not cell.failed)

    # Small things ---------------------------------------------------------------------------------------------------

    def system(self, peer: Peer) -> System:
        system = self.results.system(peer.name)
        assert system is not None
        return system

    def server(self, peer: Peer) -> Server:
        return Server(peer, self.new_directory(peer))

    def new_directory(self, peer: Peer) -> Path:
        self.servers += 1
        return self.directory / f"{self.servers}-{peer.name}"

    @contextmanager
    def noting_absence(self, system: System) -> Iterator[None]:
        try:
            yield
        except (Absent, Invalid, OSError, HTTPException) as reason:
            system.absent = str(reason)

    def tell(self, text: str) -> None:
        """On a terminal one line that changes, elsewhere lines with the time, to see what takes long."""
        if sys.stderr.isatty():
            print(f"{text:100}", end="\r", file=sys.stderr, flush=True)
        else:
            print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


TROUBLES = (Absent, Invalid, OSError, HTTPException, RequestFailed)


@contextmanager
def noting_trouble(cell: Cell) -> Iterator[None]:
    """A system that fails a workload has no numbers in it at all, not even of the rounds that went well."""
    try:
        yield
    except TROUBLES as reason:
        cell.samples.clear()
        if isinstance(reason, Absent):
            cell.absent = str(reason)
        else:
            cell.failed = str(reason) or type(reason).__name__


def restarted(server: Server, filled: Filled) -> Filled:
    """What the data takes on the disk, and how long a start on them takes."""
    server.stop()
    disk_bytes = server.disk_bytes()
    server.start()
    return replace(filled, disk_bytes=disk_bytes, start_seconds=server.start_seconds)


def rotated(items: Sequence[T], turn: int) -> list[T]:
    start = turn % len(items) if items else 0
    return [*items[start:], *items[:start]]
