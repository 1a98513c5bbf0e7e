"""How far a new index has been filled; a record of the store, so that filling goes on where it stopped."""

from __future__ import annotations

from dataclasses import dataclass

import orjson


@dataclass(frozen=True, slots=True)
class Progress:
    """`position` is the first item key not looked at yet; empty at the start."""

    catalog_key: bytes
    position: bytes = b""

    def dump(self) -> bytes:
        return orjson.dumps({"catalog_key": self.catalog_key.hex(), "position": self.position.hex()})

    @classmethod
    def load(cls, stored: bytes) -> Progress:
        fields = orjson.loads(stored)
        return cls(bytes.fromhex(fields["catalog_key"]), bytes.fromhex(fields["position"]))
