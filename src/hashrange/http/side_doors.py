"""The doors of other services on the same endpoint. The dispatcher asks them about what it does not know itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from hashrange.http.admission import Admit
from hashrange.http.exchange import Exchange


class SideDoor(Protocol):
    def answers(self, exchange: Exchange, admit: Admit, request_id: str) -> bool:
        """Whether the exchange was for this service; then it is answered, now or when its write is done."""
        ...


class SideDoors:
    """Several of them, asked one after the other. They are made when somebody comes who is not for DynamoDB."""

    def __init__(self, make: Callable[[], Sequence[SideDoor]]) -> None:
        self._make = make
        self._doors: Sequence[SideDoor] | None = None

    def answers(self, exchange: Exchange, admit: Admit, request_id: str) -> bool:
        if self._doors is None:
            self._doors = self._make()
        return any(door.answers(exchange, admit, request_id) for door in self._doors)
