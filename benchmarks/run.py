"""Measure Hashrange beside its peers. See README.md for what is measured and how it is kept fair."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from bench import Bench
from client import signs_like_botocore
from peers import HERE, PEERS
from report import print_report
from results import write_json
from workloads import HEADLINE, HEADLINE_SOME, all_workloads

RESULTS = HERE / "results"
NOT_A_DISK = {"tmpfs", "ramfs"}

T = TypeVar("T")


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="everything, which takes hours and 10 GB of disk")
    parser.add_argument("--quick", action="store_true", help="one round: only a hint")
    parser.add_argument("--duration", type=int, metavar="S", help="seconds of each measurement")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="measurements of which the median counts")
    parser.add_argument("--connections", metavar="N,N", help="connections that send at once")
    parser.add_argument("--workloads", metavar="A,B", help="only these: " + ", ".join(w.name for w in all_workloads(1)))
    parser.add_argument("--systems", metavar="A,B", help="only these: " + ", ".join(p.name for p in PEERS))
    parser.add_argument("--workdir", type=Path, default=RESULTS, metavar="DIR", help="where data is kept meanwhile")
    options = parser.parse_args(argv)
    options.duration = options.duration or (3 if options.full else 1)
    options.rounds = 1 if options.quick else options.rounds
    options.headline = not (options.full or options.workloads or options.systems)
    options.connections = [int(count) for count in (options.connections or "1,16,64").split(",")]
    known = {each.name: each for each in all_workloads(options.duration)}
    names = options.workloads or ",".join(known if options.full else HEADLINE)
    options.workloads = chosen(parser, names, known)
    systems = {peer.name: peer for peer in PEERS}
    unused = {name for name, some in HEADLINE_SOME.items() if options.headline and not some}
    options.systems = chosen(
        parser, options.systems or ",".join(name for name in systems if name not in unused), systems
    )
    return options


def chosen(parser: argparse.ArgumentParser, names: str, known: dict[str, T]) -> list[T]:
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        parser.error(f"{unknown[0]!r} is not one of {', '.join(known)}")
    return [known[name] for name in names.split(",")]


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """The options as plain values, for the file."""
    names = {key: [each.name for each in getattr(options, key)] for key in ("systems", "workloads")}
    command = " ".join(["benchmarks/run.py", *sys.argv[1:]])
    return vars(options) | names | {"workdir": str(options.workdir), "command": command}


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
    assert signs_like_botocore()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers are stopped and files removed
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="work-", dir=options.workdir) as directory:
        results = Bench(options, settings_of(options), Path(directory)).run(options.workloads)
    results.settings["minutes"] = round((time.monotonic() - begun) / 60, 1)
    print_report(results)
    path = RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    write_json(results, path)
    print(f"\nAll rounds, after {results.settings['minutes']} minutes: {path}")
    for failure in results.failures():
        print(f"FAILED: {failure[:300]}")
    return 1 if results.failures() else 0


if __name__ == "__main__":
    sys.exit(main())
