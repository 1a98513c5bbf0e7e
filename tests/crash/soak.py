"""The long run of the crash proofs: `python -m crash.soak --rounds 1000 --seed 7`, or `make soak`.

Rounds come in campaigns of a hundred on one database, each with a seed of its own, so a run that was stopped goes on
with `--first ROUND`, and a campaign that failed is repeated with the seed that it names.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

from crash.driver import run_campaign
from crash.faults import library
from crash.power import cut_again_and_again

CAMPAIGN_ROUNDS = 100
CUTS_EACH = 250
PROGRESS_ROUNDS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--cuts", type=int, default=5000, help="power cuts")
    parser.add_argument("--first", type=int, default=0, help="the round to begin with")
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    started_at = time.monotonic()
    figures: Counter[str] = Counter()
    for first in range(arguments.first, arguments.rounds, CAMPAIGN_ROUNDS):
        figures += campaign(f"{arguments.seed}/{first}", first, min(CAMPAIGN_ROUNDS, arguments.rounds - first))
    if library() is not None:
        figures += power_cuts(arguments.seed, arguments.cuts)
    seconds = time.monotonic() - started_at
    print(f"Nothing was lost. {seconds:,.0f} seconds.")
    for name, count in sorted(figures.items()):
        print(f"  {count:>10,} {name}")


def campaign(seed: str, first: int, rounds: int) -> Counter[str]:
    def progress(turn: int, figures: Counter[str]) -> None:
        if turn % PROGRESS_ROUNDS == 0:
            print(f"round {first + turn:,}: {figures['acknowledged writes']:,} writes in this campaign", flush=True)

    return run_campaign(seed, rounds, progress)


def power_cuts(seed: str, cuts: int) -> Counter[str]:
    figures: Counter[str] = Counter()
    for first in range(0, cuts, CUTS_EACH):
        recording = cut_again_and_again(f"{seed}/power/{first}", CUTS_EACH, workers=1 + first // CUTS_EACH % 2)
        figures["power cuts"] += CUTS_EACH
        figures["acknowledged writes before a power cut"] += sum(len(story.acknowledged) for story in recording.stories)
    return figures


if __name__ == "__main__":
    main()
