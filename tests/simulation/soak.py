"""The long run of the simulation: `python -m simulation.soak --seeds 5000 --first 0`, or `make soak`."""

from __future__ import annotations

import argparse
import time
from collections import Counter

from simulation.world import run_world

PROGRESS_SEEDS = 250


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="the seed to begin with")
    parser.add_argument("--steps", type=int, default=600)
    arguments = parser.parse_args()
    started_at = time.monotonic()
    counts: Counter[str] = Counter()
    for number in range(1, arguments.seeds + 1):
        counts += run_world(arguments.first + number - 1, arguments.steps)
        if number % PROGRESS_SEEDS == 0:
            print(f"{number:,} worlds: {counts['requests']:,} requests, {counts['crashes']:,} crashes", flush=True)
    print(f"{arguments.seeds:,} worlds agree with their models. {time.monotonic() - started_at:,.0f} seconds.")
    for name, count in sorted(counts.items()):
        print(f"  {count:>10,} {name}")


if __name__ == "__main__":
    main()
