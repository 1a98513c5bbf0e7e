"""Files of signed requests for wrk, the same for every system."""

from __future__ import annotations

import json
import random
import time
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, chain
from pathlib import Path

from client import Signer
from workloads import WARM_UP, Workload

DISTINCT_MAX = 100_000  # of requests that may repeat
DISTINCT_BYTES_MAX = 40_000_000
FRESH_SECONDS = 120  # signatures are good for at least five minutes
ZIPF = 0.99  # the constant of YCSB
GOLDEN = 2_654_435_761  # spreads popular keys over the whole table, odd and prime to every number of items


def keys_of(workload: Workload) -> Iterator[int]:
    """The key numbers of the requests after the warm-up, always the same ones."""
    if workload.keys == "once":
        return iter(range(WARM_UP, workload.key_count))
    chance = random.Random(workload.key_count)
    if workload.keys == "twice":
        some = chance.sample(range(workload.key_count), min(workload.key_count, distinct(workload) // 2))
        return chain.from_iterable(zip(some, chance.sample(some, len(some)), strict=True))
    if workload.keys == "even":
        return (chance.randrange(workload.key_count) for _ in range(distinct(workload)))
    cumulated = zipf_sums(workload.key_count)
    draws = (bisect_left(cumulated, chance.random() * cumulated[-1]) for _ in range(distinct(workload)))
    return (draw * GOLDEN % workload.key_count for draw in draws)


def distinct(workload: Workload) -> int:
    """Twice as many requests as there are keys, so that few are left out, as long as the file stays small."""
    size = len(json.dumps(workload.request(0, 0)[1])) + 700
    return max(min(2 * workload.key_count, DISTINCT_MAX, DISTINCT_BYTES_MAX // size), 100)


@cache
def zipf_sums(count: int) -> list[float]:
    return list(accumulate(1 / rank**ZIPF for rank in range(1, count + 1)))


class RequestFiles:
    """Writes the file of a workload, and again when its signatures grow old."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.written: dict[str, float] = {}  # when, by workload

    def file_of(self, workload: Workload) -> Path:
        moment = self.written.get(workload.name, -FRESH_SECONDS)
        path = self.directory / f"requests-{workload.name}"
        if time.monotonic() > moment + FRESH_SECONDS:
            self.written[workload.name] = time.monotonic()
            self._write(workload, path)
        return path

    def _write(self, workload: Workload, path: Path) -> None:
        signer = Signer()
        with path.open("wb") as file:
            for turn, key in enumerate(keys_of(workload)):
                operation, members = workload.request(key, turn)
                file.write(signer.request_bytes(operation, json.dumps(members).encode()))
                file.write(b"\0")
