"""Writes the figures of the documentation: the part of the page between two markers, and the plot beside it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from figures import cost_text, latency_text, ratio_text, rows_of, speed_text, title_of
from plot import plot
from results import Cell, Results, System
from targets import PLAIN, verdicts

BEGIN, END = "<!-- benchmark: begin -->", "<!-- benchmark: end -->"
MEGABYTE = 1_000_000


def write_docs(results: Results, page: Path) -> None:
    """A page without the markers is left alone, for nobody could tell what to replace."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has no lines {BEGIN} and {END}")
    picture = page.with_suffix(".svg")
    picture.write_text(plot(results), encoding="utf-8")
    lines = [*introduction(results), "", f"![Beside the best peer]({picture.name})", ""]
    lines += [*speeds(results), "", *systems(results), "", *behind(results), "", *targets(results)]
    page.write_text(f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{after}", encoding="utf-8")


def introduction(results: Results) -> Iterator[str]:
    machine, settings = results.machine, results.settings
    yield f"{machine['date']}, `{settings['command']}`: {settings['rounds']} rounds of {settings['duration']} s,"
    yield f"of which the median counts. {machine['cpu']}, {machine['cores']} cores shared with the load generator,"
    yield f"{machine['memory_bytes'] / 1e9:.0f} GB of memory, {machine['system']}, Python {machine['python']};"
    yield f"a sync of the disk takes {machine['fsync_micros']} µs."
    noisy = sum(cell.is_noisy for cell in results.measured())
    if noisy:
        yield f"`~` marks {noisy} figures whose rounds disagree or during which others used the machine."


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(header) + " |"
    yield "| " + " | ".join("---" for _ in header) + " |"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def speeds(results: Results) -> Iterator[str]:
    yield "Requests a second, beside the fastest peer whose writes are equally durable:"
    yield ""
    header = ("Workload", "Connections", "Hashrange", "Best peer", "Ratio", "p50 / p99 / p99.9 ms", "peer's")
    rows = []
    for ours in rows_of(results):
        if not ours.samples:
            continue
        rival = results.best_rival(ours)
        row = [title_of(ours), str(ours.connections), with_spread(ours)]
        if rival:
            row += [f"{with_spread(rival)} {rival.system}", ratio_text(ours, rival)]
        else:
            row += ["", ""]
        rows.append([*row, spaced(latency_text(ours)), spaced(latency_text(rival)) if rival else ""])
    yield from table((*header, "CPU µs"), [[*row, cost] for row, cost in zip(rows, costs(results), strict=True)])


def with_spread(cell: Cell) -> str:
    half = (max(cell.speeds) - min(cell.speeds)) / 2 / cell.speed
    return f"{speed_text(cell)} ±{half:.0%}"


def costs(results: Results) -> Iterator[str]:
    for ours in rows_of(results):
        if ours.samples:
            rival = results.best_rival(ours)
            yield f"{cost_text(ours)}, peer {cost_text(rival)}" if rival else cost_text(ours)


def spaced(latencies: str) -> str:
    return latencies.replace("/", " / ")


def systems(results: Results) -> Iterator[str]:
    yield "An answered write survives a power cut if it is *synced*, and the end of the process if it is in *files*."
    yield "How often a system syncs for a write was counted with strace."
    yield ""
    rows = [system_row(results, system) for system in results.systems if system.start_seconds]
    header = ("System", "Writes", "Syncs a write", "First answer", "Idle", "Under load", "CreateTable", "Files / data")
    yield from table(header, rows)
    for system in results.systems:
        if system.absent:
            yield f"\n{system.name} is absent: {system.absent}."


def system_row(results: Results, system: System) -> list[str]:
    syncs = "" if system.syncs_per_write is None else f"{system.syncs_per_write:.2g}"
    loaded = [cell.median("server_resident_bytes") for cell in results.measured() if cell.system == system.name]
    ratios = [
        f"{each.disk_bytes / each.data_bytes:.2f} ({each.dataset})"
        for each in system.filled
        if each.disk_bytes is not None
    ]
    tables = f"{statistics.median(system.create_table_seconds) * 1000:.1f} ms" if system.create_table_seconds else ""
    return [
        f"{system.name} ({system.version})",
        system.durability + (", signatures verified" if system.verifies else ""),
        syncs,
        f"{statistics.median(system.start_seconds):.2f} s",
        f"{statistics.median(system.idle_bytes) / MEGABYTE:.0f} MB",
        f"{max(loaded) / MEGABYTE:.0f} MB" if loaded else "",
        tables,
        ", ".join(ratios),
    ]


def behind(results: Results) -> Iterator[str]:
    """Everything in which a peer is ahead, whether or not it is a target."""
    yield "**Where a peer is ahead:**"
    yield ""
    found = [*slower(results), *heavier(results)]
    yield from (f"- {text}" for text in found or ["nowhere in this run"])


def slower(results: Results) -> Iterator[str]:
    for ours in rows_of(results):
        rivals = results.rivals(ours) if ours.samples else []
        if not rivals:
            continue
        where = f"{title_of(ours)}, {ours.connections} connections"
        fastest = max(rivals, key=lambda cell: cell.speed)
        if fastest.speed > ours.speed:
            yield f"{where}: {fastest.system} answers {fastest.speed / ours.speed:.2f} times as many requests"
        for name, share in (("p50_micros", "p50"), ("p99_micros", "p99"), ("p999_micros", "p99.9")):
            quickest = min(rivals, key=lambda cell: cell.median(name))
            if quickest.median(name) < ours.median(name):
                theirs, own = (f"{cell.median(name) / 1000:.2f} ms" for cell in (quickest, ours))
                yield f"{where}: {share} latency is {theirs} with {quickest.system} and {own} with ours"


def heavier(results: Results) -> Iterator[str]:
    """What costs us more than the peer that it costs least."""
    us = results.system(PLAIN)
    peers = [system for system in results.systems if not system.is_ours]
    for text, value, unit in FOOTPRINT:
        own = value(us) if us else None
        theirs = [(found, peer.name) for peer in peers if (found := value(peer)) is not None]
        if own is not None and theirs and min(theirs)[0] < own:
            least, name = min(theirs)
            yield f"{text}: {least:{unit}} with {name} and {own:{unit}} with ours"


def median_of(values: Sequence[float], scale: float = 1) -> float | None:
    return statistics.median(values) / scale if values else None


def file_ratio(system: System) -> float | None:
    ratios = [each.disk_bytes / each.data_bytes for each in system.filled if each.disk_bytes is not None]
    return ratios[0] if ratios else None


def loaded_bytes(system: System) -> float | None:
    return max((each.resident_bytes for each in system.filled), default=None)


Figure = tuple[str, Callable[[System], float | None], str]
FOOTPRINT: tuple[Figure, ...] = (
    ("seconds from start to first answer", lambda system: median_of(system.start_seconds), ".3f"),
    ("seconds for CreateTable", lambda system: median_of(system.create_table_seconds), ".4f"),
    ("bytes of memory when idle", lambda system: median_of(system.idle_bytes), ",.0f"),
    ("bytes of memory when filled", loaded_bytes, ",.0f"),
    ("files / data", file_ratio, ".2f"),
)


def targets(results: Results) -> Iterator[str]:
    yield "Targets:"
    yield ""
    yield from table(("", "Target and what was found"), [(verdict.word, verdict.text) for verdict in verdicts(results)])
