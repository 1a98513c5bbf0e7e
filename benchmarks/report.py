"""Says what a run found: a table, notes and a verdict on each target. As a command, does so for results files.

report.py RESULTS.json ...                              print the report
report.py RESULTS.json ... --docs docs/performance.md   write the figures of that page, and its plot beside it
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from docs import write_docs
from figures import HEADER, row, rows_of, speed_text
from results import OTHERS_MAX, SPREAD_MAX, Results, read_json
from targets import verdicts

MEGABYTE = 1_000_000
ALIGNMENT = "<>>><>>>>>>"


def print_report(results: Results) -> None:
    machine, settings = results.machine, results.settings
    print(
        f"\n{machine['cpu']}, {machine['cores']} cores, fsync {machine['fsync_micros']} µs, Python {machine['python']}"
    )
    print("; ".join(dict.fromkeys(system.version for system in results.systems if system.version)))
    print(f"Requests per second, median of {settings['rounds']} x {settings['duration']} s: {settings['command']}\n")
    print_table([HEADER, *(row(results, cell) for cell in rows_of(results))])
    print_notes(results)
    print_systems(results)
    print_targets(results)


def print_table(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        line = (f"{cell:{align}{width}}" for cell, align, width in zip(cells, ALIGNMENT, widths, strict=True))
        print("  ".join(line).rstrip())


def print_notes(results: Results) -> None:
    measured = list(results.measured())
    if any(cell.is_noisy for cell in measured):
        print(
            f"~ noisy: rounds differ by over {SPREAD_MAX:.0%}, or other programs used over {OTHERS_MAX:.0%} of a core"
        )
    if any(cell.is_limited_by_load for cell in measured):
        print("* wrk used a whole core: the server could do more")
    for system in results.systems:
        if system.absent:
            print(f"absent: {system.name}: {system.absent}")
    for cell in results.cells:
        if cell.absent:
            print(f"absent: {cell.system}: {cell.title}: {cell.absent}")


def print_systems(results: Results) -> None:
    print()
    for system in results.systems:
        if not system.start_seconds:
            continue
        syncs = "" if system.syncs_per_write is None else f", {system.syncs_per_write:.2g} syncs a write"
        loaded = [cell.median("server_resident_bytes") for cell in results.measured() if cell.system == system.name]
        most = f", {max(loaded) / MEGABYTE:.0f} MB under load" if loaded else ""
        idle = statistics.median(system.idle_bytes) / MEGABYTE
        print(
            f"{system.name:19} {system.durability}{syncs}; first answer after "
            f"{statistics.median(system.start_seconds):.2f} s, {idle:.0f} MB idle{most}; "
            f"CreateTable {statistics.median(system.create_table_seconds or [0]) * 1000:.1f} ms"
        )
        for filled in system.filled:
            if filled.disk_bytes is not None and filled.start_seconds is not None:
                ratio = filled.disk_bytes / filled.data_bytes
                print(f"{'':19} {filled.dataset}: filled in {filled.fill_seconds:.1f} s, ", end="")
                print(f"files {ratio:.2f} x data, first answer after {filled.start_seconds:.2f} s")


def print_targets(results: Results) -> None:
    hint = " (one round: only a hint)" if results.settings["rounds"] == 1 else ""
    print(f"\nTargets{hint}:")
    for verdict in verdicts(results):
        print(f"  {verdict.word:13} {verdict.text}")


def print_everything(results: Results) -> None:
    """Every system in every workload, with the spread over the rounds."""
    for cell in results.measured():
        spread = f"{min(cell.speeds):,.0f}-{max(cell.speeds):,.0f}"
        print(f"{cell.title:32} {cell.connections:3}  {cell.system:20} {speed_text(cell):>10}  {spread}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="results; later ones replace what they measured again")
    parser.add_argument("--docs", type=Path, help="page to write the figures into")
    parser.add_argument("--all", action="store_true", help="also every system in every workload")
    options = parser.parse_args()
    results = read_json(options.files)
    if options.docs:
        write_docs(results, options.docs)
        return 0
    print_report(results)
    if options.all:
        print_everything(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
