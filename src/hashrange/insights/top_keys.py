"""Which keys of an endless stream weigh most, in little memory: a top-k sketch that can be merged.

It counts exactly until more than twice `KEYS_KEPT` keys were seen. Then it forgets the light ones: the weight of the
first key that does not fit is subtracted from all counts, and what is not positive any more goes. This is the
algorithm of Misra and Gries, done for many keys at once; with one key more it keeps what the Space-Saving algorithm
keeps, whose counts are ours plus `forgotten` (Agarwal et al., "Mergeable Summaries", 2012).

What it promises, with k = `KEYS_KEPT` and N the whole weight that was added:

    true weight - forgotten  <=  count  <=  true weight        for every key (a key that is not kept counts 0)
    forgotten  <=  N / (k + 1)

since each time that d is subtracted from the counts, more than k of them were at least d, so more than k times d of
the weight is gone, and no more than N can go. Hence every key with more than N / (k + 1) of the weight is kept.

Two sketches are merged by adding their counts and what they have forgotten, and forgetting again. Both lines still
hold, with the sum of both weights for N; so they hold for the minutes and the worker processes of a report together.
"""

from __future__ import annotations

KEYS_KEPT = 128
KEYS_MERGED = 2048  # of many sketches together, while there is room: that is both quicker and closer

Key = str
"""The contents of the key attributes, as a JSON list."""


class TopKeys:
    """The heaviest keys that were added, and at most how much of each one's weight was forgotten."""

    __slots__ = ("_kept", "counts", "forgotten", "total")

    def __init__(self, kept: int = KEYS_KEPT) -> None:
        self._kept = kept
        self.counts: dict[Key, float] = {}
        self.total = 0.0
        self.forgotten = 0.0

    def add(self, key: Key, weight: float) -> None:
        counts = self.counts
        self.total += weight
        counts[key] = counts.get(key, 0.0) + weight
        if len(counts) > 2 * self._kept:
            self._forget()

    def merge(self, other: TopKeys) -> None:
        counts = self.counts
        for key, weight in other.counts.items():
            counts[key] = counts.get(key, 0.0) + weight
        self.total += other.total
        self.forgotten += other.forgotten
        if len(counts) > 2 * self._kept:
            self._forget()

    def _forget(self) -> None:
        """Keep the heaviest, each without the weight of the heaviest that goes."""
        lost = sorted(self.counts.values(), reverse=True)[self._kept]
        self.counts = {key: weight - lost for key, weight in self.counts.items() if weight > lost}
        self.forgotten += lost

    def top(self, number: int) -> list[tuple[Key, float]]:
        """The heaviest keys with their counts, the heaviest first; keys of the same weight in their own order."""
        return sorted(self.counts.items(), key=lambda entry: (-entry[1], entry[0]))[:number]
