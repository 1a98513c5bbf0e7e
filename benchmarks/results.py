"""What a run found, as plain values that go to a JSON file and come back from it."""

from __future__ import annotations

import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

SPREAD_MAX = 0.25
OTHERS_MAX = 0.2  # of one core
OURS = "hashrange"

# What an answered write survives: "synced" a power cut, "files" the end of the process, "memory" neither.
Durability = Literal["synced", "files", "memory"]


@dataclass(frozen=True)
class Sample:
    """One measurement of one system."""

    requests: int
    seconds: float
    requests_per_second: float
    p50_micros: int
    p99_micros: int
    p999_micros: int
    max_micros: int
    server_cpu_micros_per_request: float
    server_resident_bytes: int
    load_cpu_share: float  # of one core; near 1 means that wrk was the bottleneck
    other_cpu_share: float  # of one core, used by neither the server nor wrk: what else the machine was doing


@dataclass
class Cell:
    """One system in one workload at one number of connections: a sample per round, or why there is none."""

    system: str
    workload: str
    title: str
    writes: bool
    connections: int
    samples: list[Sample] = field(default_factory=list)
    absent: str | None = None
    failed: str | None = None

    def median(self, name: str) -> float:
        return float(statistics.median(getattr(sample, name) for sample in self.samples))

    @property
    def speeds(self) -> list[float]:
        return [sample.requests_per_second for sample in self.samples]

    @property
    def speed(self) -> float:
        return self.median("requests_per_second")

    @property
    def is_noisy(self) -> bool:
        """Whether the rounds disagree, or others used the machine, so much that the median means little."""
        spread = max(self.speeds) - min(self.speeds)
        return spread > SPREAD_MAX * self.speed or self.median("other_cpu_share") > OTHERS_MAX

    @property
    def is_limited_by_load(self) -> bool:
        return self.median("load_cpu_share") > 0.95


@dataclass
class System:
    """One system: what it is, and what it costs before anybody asks it anything."""

    name: str
    version: str = ""
    durability: Durability = "memory"
    verifies: bool = False
    syncs_per_write: float | None = None
    absent: str | None = None
    start_seconds: list[float] = field(default_factory=list)
    idle_bytes: list[int] = field(default_factory=list)
    create_table_seconds: list[float] = field(default_factory=list)
    filled: list[Filled] = field(default_factory=list)

    @property
    def is_ours(self) -> bool:
        return self.name.startswith(OURS)


@dataclass(frozen=True)
class Filled:
    """A system with items in it."""

    dataset: str
    data_bytes: int
    fill_seconds: float
    resident_bytes: int
    disk_bytes: int | None = None
    start_seconds: float | None = None


@dataclass
class Results:
    settings: dict[str, Any]
    machine: dict[str, Any]
    systems: list[System] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)

    def system(self, name: str) -> System | None:
        return next((system for system in self.systems if system.name == name), None)

    def cell(self, system: str, workload: str, connections: int) -> Cell | None:
        """A measured cell."""
        wanted = (system, workload, connections)
        return next((c for c in self.measured() if (c.system, c.workload, c.connections) == wanted), None)

    def measured(self) -> Iterator[Cell]:
        return (cell for cell in self.cells if cell.samples)

    def rivals(self, ours: Cell) -> list[Cell]:
        """Peers whose numbers may stand beside ours: all for a read, for a write the equally durable.

        Our server with signatures checked stands beside those that check them too.
        """
        us = self.system(ours.system)
        assert us is not None
        found = []
        for cell in self.measured():
            them = self.system(cell.system)
            assert them is not None
            same = (cell.workload, cell.connections) == (ours.workload, ours.connections)
            equal = (not cell.writes or them.durability == us.durability) and (them.verifies or not us.verifies)
            if same and equal and not them.is_ours:
                found.append(cell)
        return found

    def best_rival(self, ours: Cell) -> Cell | None:
        return max(self.rivals(ours), key=lambda cell: cell.speed, default=None)

    def failures(self) -> list[str]:
        """What makes the run worthless: errors of anybody, and anything that we could not do ourselves."""
        ours = [f"{system.name}: {system.absent}" for system in self.systems if system.is_ours and system.absent]
        return ours + [
            f"{cell.system}, {cell.title}, {cell.connections} connections: {cell.failed or cell.absent}"
            for cell in self.cells
            if cell.failed or (cell.absent and cell.system.startswith(OURS))
        ]


def write_json(results: Results, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(results), indent=1) + "\n")


def read_json(paths: Sequence[Path]) -> Results:
    """The results of one run, or of several; what a later one measured again replaces what an earlier one did."""
    merged = from_json(json.loads(paths[0].read_text()))
    for path in paths[1:]:
        more = from_json(json.loads(path.read_text()))
        again = {(cell.system, cell.workload, cell.connections) for cell in more.measured()}
        merged.cells = [c for c in merged.cells if (c.system, c.workload, c.connections) not in again] + more.cells
        for system in more.systems:
            known = merged.system(system.name)
            if known is None:
                merged.systems.append(system)
            else:
                known.filled = [f for f in known.filled if f.dataset not in {g.dataset for g in system.filled}]
                known.filled += system.filled
    return merged


def from_json(content: dict[str, Any]) -> Results:
    systems = [System(**s | {"filled": [Filled(**filled) for filled in s["filled"]]}) for s in content["systems"]]
    cells = [Cell(**c | {"samples": [Sample(**sample) for sample in c["samples"]]}) for c in content["cells"]]
    return Results(content["settings"], content["machine"], systems, cells)


def describe_machine(directory: Path) -> dict[str, Any]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "cpu": next(models, platform.machine()),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": " ".join((platform.system(), *platform.release().split(".")[:1])),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
        "fsync_micros": fsync_micros(directory),
        "date": time.strftime("%Y-%m-%d"),
    }


def fsync_micros(directory: Path, times: int = 50) -> int:
    taken = []
    with tempfile.TemporaryFile(dir=directory) as file:
        for _ in range(times):
            file.write(bytes(4096))
            file.flush()
            begun = time.perf_counter()
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - begun)
    return round(statistics.median(taken) * 1e6)
