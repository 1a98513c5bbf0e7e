"""A power cut at any moment loses nothing that was acknowledged, whatever the disk made of what it had not synced."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from crash.faults import Event, Platter, require_library
from crash.power import cut_again_and_again, record_load
from crash.server import hashrange

CUTS = 60


@pytest.mark.parametrize("workers", [1, 2])
def test_a_power_cut_loses_nothing_that_was_acknowledged(workers: int) -> None:
    require_library()
    seed = os.environ.get("SEED") or str(Random().randrange(10**9))
    recording = cut_again_and_again(seed, CUTS // workers, workers=workers)
    assert sum(event.kind == b"s" for event in recording.events) > 20  # there were syncs to be before or after


def test_without_the_syncs_the_same_cuts_would_leave_a_damaged_database(tmp_path: Path) -> None:
    """The proof can fail: had the pages not been synced before the root, `check` would soon have something to say."""
    require_library()
    recording = record_load(tmp_path / "recorded", "unsynced", clients=2, writes=20)
    recording.events = [event for event in recording.events if event.kind != b"s"]
    for number in range(CUTS):
        left = tmp_path / f"left-{number}"
        left.mkdir()
        recording.leave(left, Random(number))
        code, _, _ = hashrange("check", "--data", left)
        if code != 0:
            return
    raise AssertionError("no cut was noticed")


def test_what_was_synced_is_on_the_platter_and_the_rest_may_be() -> None:
    platter = Platter()
    for event in (Event(b"w", 0, b"a" * 1024, 1), Event(b"s", 0, b"", 2), Event(b"w", 0, b"b" * 1024, 3)):
        platter.take(event)
    left = {platter.after_power_cut(Random(number)) for number in range(50)}
    sectors = {(content[:512], content[512:]) for content in left}
    assert sectors == {(first * 512, second * 512) for first in (b"a", b"b") for second in (b"a", b"b")}
