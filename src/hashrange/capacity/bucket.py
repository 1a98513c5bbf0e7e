"""Capacity as credit: it grows by the provisioned units every second, and what is not used is kept for five minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BURST_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Minute:
    """What is known of a minute that is over, or of the part of one that is."""

    used: float
    throttled: bool = False  # whether anybody was refused: then there was no credit left
    seconds: int = 60


class Bucket:
    """Credit for one kind of unit.

    A request is let in while there is any credit, and may overdraw it: what it costs is often known only afterwards.
    The debt is paid from the following seconds, so over time no more is used than flows in.
    """

    __slots__ = ("_burst_seconds", "_credit", "_rate", "_second", "_used")

    def __init__(self, rate: float, burst_seconds: int, second: int, used: float = 0.0) -> None:
        self._rate = rate
        self._burst_seconds = burst_seconds
        self._credit = rate * burst_seconds
        self._second = second  # up to which the credit has been filled
        self._used = used  # of the units ever used, those that the credit already reflects

    def resize(self, rate: float) -> None:
        """Fill at another rate from now on. More capacity is there at once."""
        self._credit = min(self._credit + max(0.0, rate - self._rate), rate * self._burst_seconds)
        self._rate = rate

    def replay(self, minutes: Sequence[Minute]) -> None:
        """Make up for what was used before this bucket was made.

        At worst nothing is left. A debt is not taken over: the minutes may be of a time when there was more capacity.
        """
        credit = full = self._rate * self._burst_seconds
        for minute in minutes:
            left = max(0.0, credit - minute.used + minute.seconds * self._rate)
            credit = 0.0 if minute.throttled else min(left, full)
        self._credit -= full - credit

    @property
    def seen(self) -> tuple[float, float, float]:
        """Credit, the units ever used that it reflects, and the second up to which it is filled."""
        return self._credit, self._used, self._second

    def go_on_from(self, seen: tuple[float, float, float]) -> None:
        """Be as somebody saw it."""
        self._credit, self._used, self._second = seen[0], seen[1], int(seen[2])

    @property
    def is_full(self) -> bool:
        """Whether it is as good as new."""
        return self._credit >= self._rate * self._burst_seconds

    def at(self, second: int, used: float) -> float:
        """The credit at a second, when `used` units have ever been used. Changes nothing, so any thread may ask.

        Filling comes after using: what was used in an earlier second left room for what flowed in since.
        """
        credit = self._credit - (used - self._used)
        if second <= self._second:
            return credit
        return min(credit + self._rate * (second - self._second), self._rate * self._burst_seconds)

    def level(self, second: int, used: float) -> float:
        """The same, and from here on it is counted from there."""
        self._credit = self.at(second, used)
        self._used = used
        self._second = second  # a clock that was set back does not stop the flow
        return self._credit
