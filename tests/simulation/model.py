"""What a database should hold, kept in dictionaries: tables, what happened to them and when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Item = dict[str, Any]
Key = tuple[str, str]

STEADY = ("alpha", "beta")  # the tables that are always there
GUEST = "guest"  # the one that comes and goes
TTL_AGE_SECONDS_MAX = 5 * 365 * 86_400


@dataclass(frozen=True, slots=True)
class Change:
    micros: int
    key: Key
    old: Item | None
    new: Item | None
    by_service: bool = False


@dataclass(slots=True)
class StreamModel:
    """A stream shows the changes from `first` on, up to `last` if it was disabled."""

    arn: str
    first: int
    last: int | None = None
    disabled_at_micros: int | None = None


@dataclass
class TableModel:
    name: str
    created_at_micros: int
    items: dict[Key, Item] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    streams: list[StreamModel] = field(default_factory=list)
    expires_by: str | None = None
    recovery_since_micros: int | None = None

    def write(self, key: Key, new: Item | None, micros: int, *, by_service: bool = False) -> Item | None:
        """Put or remove an item; what was there before."""
        old = self.items.get(key)
        if new is None:
            self.items.pop(key, None)
        else:
            self.items[key] = new
        if old != new:
            self.changes.append(Change(micros, key, old, new, by_service))
        return old

    def at(self, micros: int) -> dict[Key, Item]:
        """The items at the end of a microsecond."""
        items: dict[Key, Item] = {}
        for change in self.changes:
            if change.micros <= micros:
                if change.new is None:
                    items.pop(change.key, None)
                else:
                    items[change.key] = change.new
        return items

    def expired(self, now_seconds: float) -> list[Key]:
        if self.expires_by is None:
            return []
        return [key for key, item in self.items.items() if is_expired(item, self.expires_by, now_seconds)]

    def shown(self, stream: StreamModel, from_micros: int) -> list[Change]:
        """What a stream shows that keeps nothing from before a moment."""
        return [change for change in self.changes[stream.first : stream.last] if change.micros >= from_micros]


def is_expired(item: Item, attribute: str, now_seconds: float) -> bool:
    value = item.get(attribute)
    if value is None or "N" not in value:
        return False
    return now_seconds - TTL_AGE_SECONDS_MAX <= float(value["N"]) < now_seconds


def key_of(item: Item) -> Key:
    return item["pk"]["S"], item["sk"]["S"]


def wire_key(key: Key) -> Item:
    return {"pk": {"S": key[0]}, "sk": {"S": key[1]}}
