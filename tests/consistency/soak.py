"""The long run of the consistency proofs: `python -m consistency.soak --histories 50`, or `make soak`."""

from __future__ import annotations

import argparse
import time
from collections import Counter

from consistency.recording import record_and_check

LIVES = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="the history to begin with")
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    started_at = time.monotonic()
    counts: Counter[str] = Counter()
    for number in range(arguments.first, arguments.histories):
        counts += record_and_check(f"{arguments.seed}/{number}", workers=number % 3, lives=LIVES)
        counts["histories"] += 1
        print(f"history {number + 1:,}: {counts['transactions']:,} transactions so far", flush=True)
    print(f"Every history has an order. {time.monotonic() - started_at:,.0f} seconds.")
    for name, amount in sorted(counts.items()):
        print(f"  {amount:>10,} {name}")


if __name__ == "__main__":
    main()
