"""The word that is left for the expiry job about a table whose items expire, or used to."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import orjson


@dataclass(frozen=True, slots=True)
class TimeToLive:
    """`position` is the first item key not yet in the queue while it is filled, and None once all are."""

    account: str
    region: str
    table_name: str
    attribute: str
    position: str | None = ""

    def dump(self) -> bytes:
        return orjson.dumps(asdict(self))

    @classmethod
    def load(cls, stored: bytes) -> TimeToLive:
        return cls(**orjson.loads(stored))
