"""What there is to say about a request: what it reads or writes, what that costs and why, and how to do better."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hashrange.engine.units import Consumed

LOOKUP = "key lookup"
RANGE = "range of a partition"
SCAN = "scan"
WRITE_ITEM = "write of an item"


@dataclass(slots=True)
class Step:
    """One thing that a request does to a table or an index."""

    table: str
    index: str | None
    access: str  # one of the words above
    what: str  # which keys, in words
    kind: str  # "Read" or "Write"
    consumed: Consumed
    arithmetic: list[str] = field(default_factory=list)
    items_evaluated: int | None = None
    bytes_evaluated: int | None = None
    items_returned: int | None = None
    whole: Whole | None = None  # of a read that needs more than one page
    hints: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        members: dict[str, Any] = {
            "table": self.table,
            "index": self.index,
            "access": self.access,
            "what": self.what,
            "kind": self.kind,
            "units": {
                "total": self.consumed.total,
                "table": self.consumed.table,
                "local_indexes": self.consumed.local_indexes,
                "global_indexes": self.consumed.global_indexes,
            },
            "arithmetic": self.arithmetic,
        }
        if self.items_evaluated is not None:
            members["items_evaluated"] = self.items_evaluated
            members["bytes_evaluated"] = self.bytes_evaluated
            members["items_returned"] = self.items_returned
        if self.whole is not None:
            members["all_pages"] = self.whole.as_json()
        return members


@dataclass(frozen=True, slots=True)
class Whole:
    """All pages of a read together. `is_complete` is false where counting was given up."""

    items: int
    size_bytes: int
    pages: int
    units: float
    is_complete: bool

    def as_json(self) -> dict[str, Any]:
        return {
            "items": self.items,
            "bytes": self.size_bytes,
            "pages": self.pages,
            "units": self.units,
            "complete": self.is_complete,
        }


@dataclass(slots=True)
class Explanation:
    """Everything about one request. `error` is what the service would answer with instead of doing it."""

    operation: str
    error: str | None = None
    steps: list[Step] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)

    def units(self, kind: str) -> float:
        return sum(step.consumed.total for step in self.steps if step.kind == kind)

    def as_json(self) -> dict[str, Any]:
        return {
            "operation": self.operation,
            "error": self.error,
            "read_units": self.units("Read"),
            "write_units": self.units("Write"),
            "steps": [step.as_json() for step in self.steps],
            "hints": self.hints,
        }
