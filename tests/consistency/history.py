"""What clients did and saw: every operation with the time it was sent, the time it was answered, and the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

NEVER = math.inf
UNKNOWN = object()  # the result of an operation whose answer never came: it may have happened, or may yet, or not


@dataclass(slots=True)
class Operation:
    """One operation on one item."""

    client: int
    key: str
    kind: str
    arguments: tuple[Any, ...]
    invoked: float
    returned: float = NEVER
    result: Any = UNKNOWN

    @property
    def is_known(self) -> bool:
        return self.result is not UNKNOWN


OK, FAILED, LOST = "ok", "failed", "lost"


@dataclass(slots=True)
class Transaction:
    """One transaction over lists that only grow: what it appended, and what it saw of others.

    `reads` has whole lists; `lengths` has the lengths that a condition has proven. A transaction that `failed` has done
    nothing; of one that is `lost` nobody knows.
    """

    number: int
    client: int
    invoked: float
    returned: float = NEVER
    status: str = LOST
    appends: list[tuple[str, int]] = field(default_factory=list)  # key, element; no element is appended twice
    reads: dict[str, list[int]] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
