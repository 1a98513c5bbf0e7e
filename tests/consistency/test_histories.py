"""What clients recorded, with crashes in between, could have happened one after the other: each item is linearizable,
and transactions are strictly serializable."""

from __future__ import annotations

import os
from random import Random

import pytest

from consistency.recording import record_and_check


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_recorded_histories_are_linearizable_and_serializable(workers: int) -> None:
    seed = os.environ.get("SEED") or str(Random().randrange(10**9))
    counts = record_and_check(seed, workers=workers, lives=3)
    assert counts["operations on single items"] > 100
    assert counts["transactions"] > 50
