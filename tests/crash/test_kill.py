"""kill -9 under load, again and again on one database: what was acknowledged is there, and nothing is half there."""

from __future__ import annotations

import os
from random import Random

from crash.driver import run_campaign

ROUNDS = 20


def test_twenty_kills_lose_nothing_that_was_acknowledged() -> None:
    figures = run_campaign(os.environ.get("SEED") or str(Random().randrange(10**9)), ROUNDS)
    assert figures["rounds"] == ROUNDS
    assert figures["acknowledged writes"] > ROUNDS * 20
    assert figures["stream records"] > figures["acknowledged writes"]
    assert figures["tables restored"] > 0
