"""Turns measurements into a table, a verdict on each target, and a JSON file with everything."""

from __future__ import annotations

import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from load import Sample
from peers import Peer
from workloads import Workload

OURS = ("hashrange", "hashrange-memory")
TARGET_CONNECTIONS = 16
SPREAD_MAX = 0.25
OTHERS_MAX = 0.2  # of one core
MEGABYTE = 1_000_000


@dataclass
class Cell:
    """One system in one workload at one number of connections: a sample per round, or why there is none."""

    peer: Peer
    workload: Workload
    connections: int
    samples: list[Sample] = field(default_factory=list)
    absent: str | None = None
    failed: str | None = None

    def median(self, name: str) -> float:
        return float(statistics.median(getattr(sample, name) for sample in self.samples))

    @property
    def speed(self) -> float:
        return self.median("requests_per_second")

    @property
    def is_noisy(self) -> bool:
        """Whether the rounds disagree, or others used the machine, so much that the median means little."""
        speeds = [sample.requests_per_second for sample in self.samples]
        return max(speeds) - min(speeds) > SPREAD_MAX * self.speed or self.median("other_cpu_share") > OTHERS_MAX

    @property
    def is_limited_by_load(self) -> bool:
        return self.median("load_cpu_share") > 0.95


@dataclass
class Start:
    """Starts of one system: seconds until the first answer, and resident memory when idle."""

    peer: Peer
    seconds: list[float] = field(default_factory=list)
    resident_bytes: list[int] = field(default_factory=list)


@dataclass
class Results:
    settings: dict[str, Any]
    machine: dict[str, Any]
    versions: dict[str, str]
    absent: dict[str, str] = field(default_factory=dict)
    starts: list[Start] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)

    def cell(self, peer: str, workload: str, connections: int = TARGET_CONNECTIONS) -> Cell | None:
        wanted = (peer, workload, connections)
        found = (c for c in self.cells if (c.peer.name, c.workload.name, c.connections) == wanted)
        return next(found, None)

    def rivals(self, ours: Cell) -> list[Cell]:
        """Measured peers whose numbers may stand beside ours: all for a read, for a write the equally durable."""
        return [
            cell
            for cell in self.cells
            if (cell.workload.name, cell.connections) == (ours.workload.name, ours.connections)
            and cell.peer.name not in OURS
            and cell.samples
            and (not cell.workload.writes or cell.peer.durable == ours.peer.durable)
        ]

    def best_rival(self, ours: Cell, family: str = "") -> Cell | None:
        rivals = [cell for cell in self.rivals(ours) if cell.peer.name.startswith(family)]
        return max(rivals, key=lambda cell: cell.speed, default=None)

    def failures(self) -> list[str]:
        ours = [f"{name}: {reason}" for name, reason in self.absent.items() if name in OURS]
        cells = [cell for cell in self.cells if cell.failed]
        return ours + [f"{c.peer.name}, {c.workload.title}, {c.connections} connections: {c.failed}" for c in cells]


# The table ----------------------------------------------------------------------------------------------------------

HEADER = ("workload", "conns", "hashrange", "best peer", "", "ratio", "p50/p99 ms", "peer's", "CPU µs", "peer's")
ALIGNMENT = "<>>><>>>>>"


def print_report(results: Results) -> None:
    machine = results.machine
    print(f"\n{machine['cpu']}, {machine['cores']} cores, fsync {machine['fsync_micros']} µs; ", end="")
    print("; ".join(results.versions.values()))
    print(f"Requests per second, median of {results.settings['rounds']} x {results.settings['duration']} s\n")
    print_table([HEADER, *(row(results, cell) for cell in results.cells if cell.peer.name in OURS)])
    print_notes(results)
    print_starts(results)
    print_sizes(results)
    print_targets(results)


def row(results: Results, ours: Cell) -> tuple[str, ...]:
    title = ours.workload.title + ("" if ours.peer.durable else " (memory)")
    head = (title, str(ours.connections))
    rival = results.best_rival(ours)
    theirs = (speed_text(rival), rival.peer.name) if rival else ("-", "")
    if not ours.samples:
        return (*head, ours.absent or "FAILED", *theirs, "", "", "", "", "")
    ratio = f"{ours.speed / rival.speed:.2f}x" if rival else ""
    latencies = (latency_text(ours), latency_text(rival) if rival else "")
    costs = (cost_text(ours), cost_text(rival) if rival else "")
    return (*head, speed_text(ours), *theirs, ratio, *latencies, *costs)


def speed_text(cell: Cell) -> str:
    return f"{'~' if cell.is_noisy else ''}{cell.speed:,.0f}{'*' if cell.is_limited_by_load else ''}"


def latency_text(cell: Cell) -> str:
    return f"{cell.median('p50_micros') / 1000:.2f}/{cell.median('p99_micros') / 1000:.2f}"


def cost_text(cell: Cell) -> str:
    return f"{cell.median('server_cpu_micros_per_request'):.0f}"


def print_table(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        line = (f"{cell:{align}{width}}" for cell, align, width in zip(cells, ALIGNMENT, widths, strict=True))
        print("  ".join(line).rstrip())


def print_notes(results: Results) -> None:
    measured = [cell for cell in results.cells if cell.samples]
    if any(cell.is_noisy for cell in measured):
        print(
            f"~ noisy: rounds differ by over {SPREAD_MAX:.0%}, or other programs used over {OTHERS_MAX:.0%} of a core"
        )
    if any(cell.is_limited_by_load for cell in measured):
        print("* wrk used a whole core: the server could do more")
    for name, reason in results.absent.items():
        print(f"absent: {name}: {reason}")


def print_starts(results: Results) -> None:
    print()
    for start in results.starts:
        seconds, resident = statistics.median(start.seconds), statistics.median(start.resident_bytes)
        loaded = [c.median("server_resident_bytes") for c in results.cells if c.peer == start.peer and c.samples]
        most = f", at most {max(loaded) / MEGABYTE:.0f} MB under load" if loaded else ""
        print(f"{start.peer.name:16} answers after {seconds:.2f} s, {resident / MEGABYTE:.0f} MB idle{most}")


def print_sizes(results: Results) -> None:
    """How reads slow down when the table is a thousand times larger."""
    for large in results.cells:
        if large.workload.name != "get-million" or not large.samples:
            continue
        small = results.cell(large.peer.name, "get", large.connections)
        if small and small.samples:
            print(
                f"{large.peer.name:16} GetItem p50/p99 ms, {large.connections} connections: "
                f"{latency_text(small)} with 1,000 items, {latency_text(large)} with 1,000,000"
            )


# The targets --------------------------------------------------------------------------------------------------------

RIVAL = "dynoxide"
SPEED_TARGETS = (("get", 1.5), ("put", 2.0), ("query", 3.0), ("update", 2.0), ("transact", 2.0))
INDEX_COST_MAX = 3.0
STREAM_COST_MAX = 1.67  # at most 40 % of the throughput
RECOVERY_COST_MAX = 1.25  # at most another 20 %
START_SECONDS_MAX = 0.4
IDLE_MEGABYTES_MAX = 60


def print_targets(results: Results) -> None:
    hint = " (a quick run: only a hint)" if results.settings["quick"] else ""
    print(f"\nTargets, at {TARGET_CONNECTIONS} connections{hint}:")
    for name, minimum in SPEED_TARGETS:
        ours = results.cell(OURS[0], name)
        rival = results.best_rival(ours, RIVAL) if ours else None
        print_ratio(f"{name} is at least {minimum} times as fast as {RIVAL}", ours, rival, minimum=minimum)
    plain, indexed = results.cell(OURS[0], "put"), results.cell(OURS[0], "put-gsi")
    print_ratio(f"put-gsi costs at most {INDEX_COST_MAX} times as much as put", plain, indexed, maximum=INDEX_COST_MAX)
    streamed, recovered = results.cell(OURS[0], "put-stream"), results.cell(OURS[0], "put-recovery")
    print_ratio(
        f"put-stream costs at most {STREAM_COST_MAX} times as much as put", plain, streamed, maximum=STREAM_COST_MAX
    )
    text = f"put-recovery costs at most {RECOVERY_COST_MAX} times as much as put-stream"
    print_ratio(text, streamed, recovered, maximum=RECOVERY_COST_MAX)
    for start in results.starts:
        if start.peer.name == OURS[0]:
            seconds = statistics.median(start.seconds)
            megabytes = statistics.median(start.resident_bytes) / MEGABYTE
            print_verdict(seconds < START_SECONDS_MAX, f"answers in less than {START_SECONDS_MAX} s: {seconds:.2f} s")
            print_verdict(
                megabytes < IDLE_MEGABYTES_MAX, f"idles in less than {IDLE_MEGABYTES_MAX} MB: {megabytes:.0f} MB"
            )


def print_ratio(claim: str, above: Cell | None, below: Cell | None, minimum: float = 0, maximum: float = inf) -> None:
    if above is None or below is None or not above.samples or not below.samples:
        print(f"  not measured  {claim}")
        return
    ratio = above.speed / below.speed
    print_verdict(minimum <= ratio <= maximum, f"{claim}: {ratio:.2f}", sure=not above.is_noisy and not below.is_noisy)


def print_verdict(holds: bool, claim: str, *, sure: bool = True) -> None:
    word = "holds" if holds else "MISSED"
    print(f"  {word if sure else word + ', noisy':13} {claim}")


# The machine and the file -------------------------------------------------------------------------------------------


def describe_machine(directory: Path) -> dict[str, Any]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "cpu": next(models, platform.machine()),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
        "fsync_micros": fsync_micros(directory),
    }


def fsync_micros(directory: Path, times: int = 50) -> int:
    """What the disk takes to keep 4 KB: the price of a durable write without company."""
    taken = []
    with tempfile.TemporaryFile(dir=directory) as file:
        for _ in range(times):
            file.write(bytes(4096))
            file.flush()
            begun = time.perf_counter()
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - begun)
    return round(statistics.median(taken) * 1e6)


def write_json(results: Results, path: Path) -> None:
    content = {
        "settings": results.settings,
        "machine": results.machine,
        "versions": results.versions,
        "absent": results.absent,
        "starts": [{"system": s.peer.name, "seconds": s.seconds, "bytes": s.resident_bytes} for s in results.starts],
        "cells": [
            {
                "system": cell.peer.name,
                "workload": cell.workload.name,
                "connections": cell.connections,
                "absent": cell.absent,
                "failed": cell.failed,
                "samples": [asdict(sample) for sample in cell.samples],
            }
            for cell in results.cells
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")
