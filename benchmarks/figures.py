"""The rows of the table: one of ours beside the best peer, as texts."""

from __future__ import annotations

from results import Cell, Results

HEADER = (
    "workload",
    "conns",
    "hashrange",
    "best peer",
    "",
    "ratio",
    "p50/p99/p99.9 ms",
    "peer's",
    "CPU µs",
    "peer's",
    "spread",
)
KINDS = {
    "hashrange": "",
    "hashrange-memory": " (memory)",
    "hashrange-unsynced": " (unsynced)",
    "hashrange-verify": " (verified, unsynced)",
}


def rows_of(results: Results) -> list[Cell]:
    """Ours in the order of the workloads, each kind of ours after the plain one."""
    return [cell for cell in results.cells if cell.system in KINDS]


def title_of(cell: Cell) -> str:
    return cell.title + KINDS[cell.system]


def row(results: Results, ours: Cell) -> tuple[str, ...]:
    head = (title_of(ours), str(ours.connections))
    if not ours.samples:
        return (*head, ours.absent or "FAILED", *[""] * (len(HEADER) - len(head) - 1))
    rival = results.best_rival(ours)
    spread = f"±{(max(ours.speeds) - min(ours.speeds)) / ours.speed / 2:.0%}"
    if rival is None:
        return (*head, speed_text(ours), "-", "", "", latency_text(ours), "", cost_text(ours), "", spread)
    theirs = (speed_text(rival), rival.system, ratio_text(ours, rival))
    figures = (latency_text(ours), latency_text(rival), cost_text(ours), cost_text(rival))
    return (*head, speed_text(ours), *theirs, *figures, spread)


def speed_text(cell: Cell) -> str:
    return f"{'~' if cell.is_noisy else ''}{cell.speed:,.0f}{'*' if cell.is_limited_by_load else ''}"


def ratio_text(ours: Cell, rival: Cell) -> str:
    return f"{ours.speed / rival.speed:.2f}x"


def latency_text(cell: Cell) -> str:
    return "/".join(f"{cell.median(name) / 1000:.2f}" for name in ("p50_micros", "p99_micros", "p999_micros"))


def cost_text(cell: Cell) -> str:
    return f"{cell.median('server_cpu_micros_per_request'):.0f}"
