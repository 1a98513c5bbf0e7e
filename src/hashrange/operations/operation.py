"""What an operation is: a name, a function, and what the door has to know about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.parts import Parts
from hashrange.engine.scope import Scope
from hashrange.engine.usage import Usage
from hashrange.errors import ClientError
from hashrange.storage.interface import Planner


class Request:
    """The members of a request, the account and region that it addresses, and what it has used so far."""

    __slots__ = ("get", "members", "scope", "usage")

    refused: Mapping[int, ClientError] = {}
    """Parts of the request that its sender may not have done, by their number; where each part may fail by itself."""

    def __init__(self, members: dict[str, Any], scope: Scope) -> None:
        self.members = members
        self.scope = scope
        self.get = members.get
        self.usage = Usage()

    def __getitem__(self, name: str) -> Any:
        return self.members[name]

    def __contains__(self, name: str) -> bool:
        return name in self.members


@dataclass(frozen=True, slots=True)
class Write:
    """An answer that is known only once its plan was carried out."""

    plan: Planner


@dataclass(frozen=True, slots=True)
class LongRead:
    """An answer that takes a while to read. `step` reads a part of it, and returns the answer once it has the last."""

    step: Callable[[], dict[str, Any] | None]
    held_bytes: int = 0  # of what was found already


def in_parts(db: Database, work: Parts[dict[str, Any]]) -> LongRead:
    """The answer of work that is done in parts. What it checks before the first of them is checked now."""
    next(work)

    def step() -> dict[str, Any] | None:
        with db.read() as snapshot:
            try:
                work.send(snapshot)
            except StopIteration as end:
                answer: dict[str, Any] = end.value
                return answer
        return None

    return LongRead(step)


Answer = dict[str, Any] | None | Write | LongRead
"""The members of a response (bytes that are JSON already go in as `orjson.Fragment`); None for an empty body."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the API."""

    name: str
    run: Callable[[Database, Request], Answer]
    service: str = "dynamodb"
    envelope: bool = False  # whether the newer wording puts request errors behind "1 validation error detected: "


@dataclass(frozen=True, slots=True)
class RestOperation:
    """An operation that is named by a method and a path instead of a header."""

    method: str
    path: str
    status: int  # of a success
    operation: Operation
