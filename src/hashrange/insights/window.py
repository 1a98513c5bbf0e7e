"""What is kept of one minute: the heaviest keys, and how many uses or throttles there were of any key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import orjson

from hashrange.engine import keyspace
from hashrange.insights.top_keys import Key, TopKeys
from hashrange.storage.interface import Snapshot

if TYPE_CHECKING:
    from hashrange.insights.rules import Resource, Rule

MINUTE_MICROS = 60_000_000
MINUTES_KEPT = 24 * 60  # CloudWatch reports on a day at most


class Window:
    """The observations of a minute."""

    __slots__ = ("keys", "maximum", "minimum", "observations")

    def __init__(self) -> None:
        self.keys = TopKeys()
        self.observations = 0
        self.minimum = float("inf")  # of a single observation, and so the maximum
        self.maximum = 0.0

    def add(self, key: Key, weight: float) -> None:
        self.keys.add(key, weight)
        self.observations += 1
        if weight < self.minimum:
            self.minimum = weight
        if weight > self.maximum:
            self.maximum = weight

    def merge(self, other: Window) -> None:
        self.keys.merge(other.keys)
        self.observations += other.observations
        self.minimum = min(self.minimum, other.minimum)
        self.maximum = max(self.maximum, other.maximum)

    def dump(self) -> bytes:
        """Only windows with observations are kept, so the minimum is a number."""
        keys = self.keys
        return orjson.dumps(
            {
                "observations": self.observations,
                "minimum": self.minimum,
                "maximum": self.maximum,
                "total": keys.total,
                "forgotten": keys.forgotten,
                "keys": keys.counts,
            }
        )

    @classmethod
    def load(cls, stored: bytes) -> Window:
        fields = orjson.loads(stored)
        window = cls()
        window.observations = fields["observations"]
        window.minimum = fields["minimum"]
        window.maximum = fields["maximum"]
        window.keys.total = fields["total"]
        window.keys.forgotten = fields["forgotten"]
        window.keys.counts = fields["keys"]
        return window


def minute_of(micros: int) -> int:
    return micros // MINUTE_MICROS


def windows(
    snapshot: Snapshot, resource: Resource, rule: Rule, first_minute: int, end_minute: int
) -> Iterator[tuple[int, Window]]:
    """The minutes from the first, included, to the end, excluded, in which there was anything."""
    minutes = range(first_minute, end_minute)
    table_id, index_number = resource.table.id, resource.index_number
    keys = [keyspace.hot_keys_key(minute, table_id, index_number, rule.number) for minute in minutes]
    for minute, stored in zip(minutes, snapshot.get_many(keys), strict=True):
        if stored is not None:
            yield minute, Window.load(stored)
