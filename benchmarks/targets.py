"""What we want to reach, and whether a run did."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from results import Cell, Results

MEGABYTE = 1_000_000
PLAIN, IN_MEMORY, VERIFIED = "hashrange", "hashrange-memory", "hashrange-verify"

# Which of ours, workload, connections, and how many times as fast as the best peer of equal durability.
RATIOS = (
    (PLAIN, "get", 16, 2.0),
    (PLAIN, "get", 64, 2.0),
    (PLAIN, "put", 16, 2.5),
    (PLAIN, "put", 64, 5.0),
    (PLAIN, "update", 16, 2.5),
    (PLAIN, "update", 64, 5.0),
    (PLAIN, "delete", 16, 2.5),
    (PLAIN, "delete", 64, 5.0),
    (IN_MEMORY, "put", 16, 2.0),
    (PLAIN, "query", 16, 4.0),
    (PLAIN, "query-1000", 16, 4.0),
    (PLAIN, "scan", 16, 4.0),
    (PLAIN, "batch-get", 16, 3.0),
    (PLAIN, "batch-write", 16, 3.0),
    (PLAIN, "transact", 16, 3.0),
    (VERIFIED, "get", 16, 2.0),
    (VERIFIED, "put", 16, 3.0),
)
LATENCY = ("ycsb-b", 64, 0.5)  # our p99 is at most this share of the peer's
MILLION = (("get", "get-million", 0.85), ("query", "query-million", 0.85))
COSTS = (("put", "put-gsi", 3.0), ("put", "put-stream", 1.67), ("put-stream", "put-recovery", 1.25))
IDLE_MEGABYTES_MAX = 50
START_SECONDS_MAX = 0.25
FILE_RATIO_MAX = 1.6


@dataclass(frozen=True)
class Verdict:
    text: str
    holds: bool | None  # None: not measured
    sure: bool = True

    @property
    def word(self) -> str:
        if self.holds is None:
            return "not measured"
        return ("holds" if self.holds else "MISSED") + ("" if self.sure else ", noisy")


def verdicts(results: Results) -> Iterator[Verdict]:
    for system, workload, connections, minimum in RATIOS:
        ours = results.cell(system, workload, connections)
        rival = results.best_rival(ours) if ours else None
        claim = f"{system}: {workload} at {connections} is at least {minimum:g} times as fast as the best peer"
        yield ratio(claim, ours, rival, minimum=minimum)
    yield latency(results)
    for small, large, minimum in MILLION:
        claim = f"{large} runs at {minimum:.0%} of {small} or more"
        yield ratio(claim, results.cell(PLAIN, large, 16), results.cell(PLAIN, small, 16), minimum=minimum)
    for cheap, dear, maximum in COSTS:
        claim = f"{dear} costs at most {maximum:g} times as much as {cheap}"
        yield ratio(claim, results.cell(PLAIN, cheap, 16), results.cell(PLAIN, dear, 16), maximum=maximum)
    yield from footprint(results)


def ratio(claim: str, above: Cell | None, below: Cell | None, minimum: float = 0, maximum: float = inf) -> Verdict:
    if above is None or below is None:
        return Verdict(claim, None)
    found = above.speed / below.speed
    return Verdict(f"{claim}: {found:.2f}", minimum <= found <= maximum, not above.is_noisy and not below.is_noisy)


def latency(results: Results) -> Verdict:
    workload, connections, share = LATENCY
    claim = f"{workload} at {connections}: p99 is at most {share:.0%} of the best peer's"
    ours = results.cell(PLAIN, workload, connections)
    rivals = results.rivals(ours) if ours else []
    if ours is None or not rivals:
        return Verdict(claim, None)
    best = min(rivals, key=lambda cell: cell.median("p99_micros"))
    found = ours.median("p99_micros") / best.median("p99_micros")
    return Verdict(f"{claim}: {found:.0%} ({best.system})", found <= share, not ours.is_noisy and not best.is_noisy)


def footprint(results: Results) -> Iterator[Verdict]:
    system = results.system(PLAIN)
    if system is None or not system.start_seconds:
        return
    idle = statistics.median(system.idle_bytes) / MEGABYTE
    yield Verdict(f"idles in less than {IDLE_MEGABYTES_MAX} MB: {idle:.0f} MB", idle < IDLE_MEGABYTES_MAX)
    starts = {"an empty database": statistics.median(system.start_seconds)}
    starts |= {each.dataset: each.start_seconds for each in system.filled if each.start_seconds is not None}
    for data, seconds in starts.items():
        claim = f"answers in less than {START_SECONDS_MAX} s on {data}: {seconds:.2f} s"
        yield Verdict(claim, seconds < START_SECONDS_MAX)
    for each in system.filled:
        if each.disk_bytes is not None:
            found = each.disk_bytes / each.data_bytes
            claim = f"files are at most {FILE_RATIO_MAX} times the data, {each.dataset}: {found:.2f}"
            yield Verdict(claim, found <= FILE_RATIO_MAX)
