"""Measure Hashrange beside its peers. See README.md for what is measured and how it is kept fair."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypeVar

from load import Invalid, measure, prepare
from peers import HERE, PEERS, Absent, Peer, Server
from report import OURS, Cell, Results, Start, describe_machine, print_report, write_json
from workloads import Workload, all_workloads

RESULTS = HERE / "results"
DEFAULT_SYSTEMS = "hashrange,dynoxide,dynoxide-memory"
IDLE_SECONDS = 0.5
NOT_A_DISK = {"tmpfs", "ramfs"}

T = TypeVar("T")


class Bench:
    """One run: every system takes its turn in every round, and the order turns from round to round."""

    def __init__(self, options: argparse.Namespace, directory: Path) -> None:
        self.options = options
        self.directory = directory
        self.servers_started = 0
        self.results = Results(settings_of(options), describe_machine(directory), {})

    def run(self, workloads: Sequence[Workload]) -> Results:
        peers = self.install(self.options.systems)
        self.measure_starts(peers)
        for workload in workloads:
            self.measure_workload(workload, fitting(workload, peers))
        return self.results

    def install(self, peers: Sequence[Peer]) -> list[Peer]:
        ready = []
        for peer in peers:
            try:
                peer.install()
                with self.server(peer):  # also compiles and caches what the first start needs
                    self.results.versions[peer.name.partition("-")[0]] = peer.version()
                ready.append(peer)
            except Absent as reason:
                self.results.absent[peer.name] = str(reason)
        return ready

    def server(self, peer: Peer) -> Server:
        self.servers_started += 1
        return Server(peer, self.directory / f"{self.servers_started}-{peer.name}")

    def measure_starts(self, peers: Sequence[Peer]) -> None:
        starts = [Start(peer) for peer in peers]
        for turn in range(self.options.rounds):
            for start in rotated(starts, turn):
                with self.server(start.peer) as server:
                    time.sleep(IDLE_SECONDS)
                    start.seconds.append(server.start_seconds)
                    start.resident_bytes.append(server.resident_bytes())
        self.results.starts = starts

    def measure_workload(self, workload: Workload, peers: Sequence[Peer]) -> None:
        """A workload that writes gets a new server each time; the others share one that is filled once."""
        cells = [Cell(peer, workload, count) for count in self.options.connections for peer in peers]
        self.results.cells += cells
        with ExitStack() as stack:
            kept: dict[Peer, Server] = {}
            for count in self.options.connections:
                for turn in range(self.options.rounds):
                    for cell in rotated([cell for cell in cells if cell.connections == count], turn):
                        with noting_trouble(cell):
                            self.measure_once(cell, stack, kept)

    def measure_once(self, cell: Cell, stack: ExitStack, kept: dict[Peer, Server]) -> None:
        if cell.absent or cell.failed:
            return
        self.tell(cell)
        with ExitStack() as own:
            server = kept.get(cell.peer)
            if server is None:
                server = (own if cell.workload.writes else stack).enter_context(self.server(cell.peer))
                prepare(server, cell.workload)
                if not cell.workload.writes:
                    kept[cell.peer] = server
            sample = measure(server, cell.workload, connections=cell.connections, seconds=self.options.duration)
            cell.samples.append(sample)

    def tell(self, cell: Cell) -> None:
        if not sys.stderr.isatty():
            return
        turn = f"round {len(cell.samples) + 1} of {self.options.rounds}"
        line = f"{cell.workload.title}, {cell.connections} connections, {turn}: {cell.peer.name}"
        print(f"{line:100}", end="\r", file=sys.stderr, flush=True)


@contextmanager
def noting_trouble(cell: Cell) -> Iterator[None]:
    """A system that fails a workload has no numbers in it at all, not even of the rounds that went well."""
    try:
        yield
    except Absent as reason:
        cell.absent = str(reason)
    except (Invalid, OSError, HTTPException) as reason:
        cell.failed = str(reason) or type(reason).__name__
        cell.samples.clear()


def fitting(workload: Workload, peers: Sequence[Peer]) -> list[Peer]:
    """A write that need not reach the disk is measured only if one of ours does the same."""
    durabilities = {peer.durable for peer in peers if peer.name in OURS}
    return [peer for peer in peers if not workload.writes or peer.durable in durabilities]


def rotated(items: Sequence[T], turn: int) -> list[T]:
    start = turn % len(items) if items else 0
    return [*items[start:], *items[:start]]


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duration", type=int, default=3, metavar="S", help="seconds of each measurement")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="measurements of which the median counts")
    parser.add_argument("--connections", default="16,64", metavar="N,N", help="connections that send at once")
    parser.add_argument("--workloads", default="", metavar="A,B", help="only these")
    parser.add_argument("--systems", default=DEFAULT_SYSTEMS, metavar="A,B", help=", ".join(p.name for p in PEERS))
    parser.add_argument("--workdir", type=Path, default=RESULTS, metavar="DIR", help="where data is kept meanwhile")
    parser.add_argument("--quick", action="store_true", help="one second, one round, 16 connections")
    parser.add_argument("--full", action="store_true", help="also a table of a million items (needs 10 GB of disk)")
    options = parser.parse_args(argv)
    if options.quick:
        options.duration, options.rounds, options.connections = 1, 1, "16"
    options.connections = [int(count) for count in options.connections.split(",")]
    options.systems = chosen(parser, options.systems, {peer.name: peer for peer in PEERS})
    known = {each.name: each for each in all_workloads(options.duration) if options.full or not each.only_in_full}
    options.workloads = chosen(parser, options.workloads, known) if options.workloads else list(known.values())
    return options


def chosen(parser: argparse.ArgumentParser, names: str, known: dict[str, T]) -> list[T]:
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        parser.error(f"{unknown[0]!r} is not one of {', '.join(known)}")
    return [known[name] for name in names.split(",")]


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """The options as plain values, for the file."""
    names = {key: [each.name for each in getattr(options, key)] for key in ("systems", "workloads")}
    return vars(options) | names | {"workdir": str(options.workdir)}


def is_disk(directory: Path) -> bool:
    """Whether the directory is on something that a sync can reach; the longest mount point above it decides."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    above = [(len(point), kind) for point, kind in mounts if directory.resolve().is_relative_to(point)]
    return max(above)[1] not in NOT_A_DISK


def main() -> int:
    options = parse_arguments()
    if shutil.which("wrk") is None:
        print("wrk is not installed (Debian: apt install wrk).", file=sys.stderr)
        return 2
    options.workdir.mkdir(parents=True, exist_ok=True)
    if not is_disk(options.workdir):
        print(f"{options.workdir} is in memory, where syncing costs nothing: choose a --workdir on a disk.")
        return 2
    with tempfile.TemporaryDirectory(prefix="work-", dir=options.workdir) as directory:
        results = Bench(options, Path(directory)).run(options.workloads)
    print_report(results)
    path = RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    write_json(results, path)
    print(f"\nAll rounds: {path}")
    for failure in results.failures():
        print(f"FAILED: {failure[:200]}")
    return 1 if results.failures() else 0


if __name__ == "__main__":
    sys.exit(main())
