"""A few thousand inputs for every fuzzer, the same ones each time. `make fuzz` runs more, and others."""

from __future__ import annotations

import pytest

from fuzz.run import LIVE, TARGETS, fuzz, prepared, report

ROUNDS = {
    "wire": 6,
    "bodies": 4,
    "companions": 3,
    "expressions": 4,
    "statements": 4,
    "files": 2,
    "signatures": 3,
    LIVE: 1,
}


@pytest.mark.parametrize("target", [*TARGETS, LIVE])
def test_no_input_makes_the_server_fail(target: str) -> None:
    with prepared(target) as run:
        watch = fuzz(target, run, seed=0, seconds=0, rounds=ROUNDS[target])
    assert not watch.findings, report(watch)
