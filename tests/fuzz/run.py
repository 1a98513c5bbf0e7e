"""Runs fuzzers: `python -m fuzz.run --seconds 60 --seed 7`, or one round again: `--target wire --seed 7 --round 12`.

Inputs come in rounds. A round is drawn from the seed and its own number and starts from a world of its own, so it can
be run again by itself.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from random import Random

from fuzz.companions import round_of_companions
from fuzz.expressions import round_of_expressions, round_of_statements
from fuzz.files import round_of_files
from fuzz.live import LiveServer
from fuzz.requests import round_of_bodies
from fuzz.signatures import round_of_signatures
from fuzz.watch import Watch
from fuzz.wire import round_of_wire
from fuzz.world import World

MEMORY_BYTES_MAX = 3 * 1024**3
INPUTS_PER_ROUND = 300

Round = Callable[[Random, Watch, int], None]


def in_a_world(run: Callable[[Random, World, Watch, int], None]) -> Round:
    """A round against a server of its own, which must be sound at the end."""

    def round_in_a_world(chance: Random, watch: Watch, inputs: int) -> None:
        with tempfile.TemporaryDirectory(prefix="hashrange-fuzz-") as directory:
            world = World(chance, Path(directory))
            run(chance, world, watch, inputs)
            watch.each(b"the end of the round", world.settle)

    return round_in_a_world


TARGETS: dict[str, Round] = {
    "wire": round_of_wire,
    "bodies": in_a_world(round_of_bodies),
    "companions": in_a_world(round_of_companions),
    "expressions": in_a_world(round_of_expressions),
    "statements": in_a_world(round_of_statements),
    "files": round_of_files,
    "signatures": round_of_signatures,
}
LIVE = "live"


def run_round(target: str, run: Round, watch: Watch, number: int, inputs: int = INPUTS_PER_ROUND) -> None:
    watch.started(number)
    run(Random(f"{watch.seed}/{target}/{number}"), watch, inputs)


def fuzz(target: str, run: Round, *, seed: int, seconds: float, first: int = 0, rounds: int | None = None) -> Watch:
    """Rounds until the time is up, or as many as were asked for."""
    watch = Watch(target, seed)
    ends_at = time.monotonic() + seconds
    number = first
    with watch.watching():
        while (rounds is None and time.monotonic() < ends_at) or (rounds is not None and number < first + rounds):
            run_round(target, run, watch, number)
            number += 1
    return watch


@contextmanager
def prepared(target: str):  # type: ignore[no-untyped-def]
    """What runs the rounds of a target; the live one has a server of its own for all of them."""
    if target != LIVE:
        yield TARGETS[target]
        return
    with LiveServer() as server:
        yield server.round


def report(watch: Watch) -> str:
    common = sorted(watch.outcomes.items(), key=lambda entry: -entry[1])[:8]
    lines = [
        f"{watch.target}: {watch.inputs:,} inputs in {watch.rounds:,} rounds, seed {watch.seed}, "
        f"slowest {watch.slowest_seconds * 1000:.0f} ms, {len(watch.findings)} findings",
        "  " + ", ".join(f"{name} {count:,}" for name, count in common),
        *map(str, watch.findings.values()),
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Feed the server with what no client should send.")
    parser.add_argument("--target", choices=(*TARGETS, LIVE), action="append", help="only this one; may be repeated")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, help="as many rounds in the place of --seconds")
    parser.add_argument("--round", type=int, help="run this round alone, to see a finding again")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    found = 0
    for target in arguments.target or (*TARGETS, LIVE):
        with prepared(target) as run:
            first, rounds = (arguments.round, 1) if arguments.round is not None else (0, arguments.rounds)
            watch = fuzz(target, run, seed=arguments.seed, seconds=arguments.seconds, first=first, rounds=rounds)
        print(report(watch), flush=True)
        found += len(watch.findings)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process {peak_mb:.0f} MB")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
