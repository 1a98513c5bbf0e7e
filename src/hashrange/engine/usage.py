"""What a request used: of which tables and indexes, how many units, at which keys.

An operation tells what it used as soon as it knows (`Database.spend`). Then and there the ledger is asked whether
the capacity is there; if it is not, the request is throttled and what it was about to do does not happen. What was
used is taken from the capacity, and counted in metrics, only when the request has met its fate: a plan changes nothing
itself, and may run more than once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hashrange.engine.scope import Scope
from hashrange.engine.table import Table
from hashrange.engine.units import Consumed
from hashrange.errors import ClientError
from hashrange.values.types import Attributes

READ = "Read"
WRITE = "Write"


@dataclass(slots=True)
class Use:
    """Units that a request, or one element of it, used of one table and its indexes."""

    table: Table
    kind: str  # READ or WRITE
    consumed: Consumed
    base_key: bytes = b""  # begins with the hash of the partition, of the index if one was read; empty: many partitions
    keys: Sequence[Attributes] = ()  # of the items or the partition that were meant: attributes that those are among
    index: str | None = None  # the index that was read
    evaluated: int | None = None  # by Query and Scan: the items that were looked at
    returned: int | None = None  # and those that were answered with


@dataclass(frozen=True, slots=True)
class Throttle:
    """One thing that could not be done for want of capacity."""

    use: Use
    index: str | None  # whose capacity was missing; None: the table's
    reason: str  # as in ThrottlingReasons


class Usage:
    """Everything that one request used, and what it was refused."""

    __slots__ = ("drawn", "throttles", "uses")

    def __init__(self) -> None:
        self.uses: list[Use] = []
        self.drawn: dict[Any, float] | None = None  # what is to be taken, by whatever the ledger takes it from
        self.throttles: Sequence[Throttle] = ()

    def begin(self) -> None:
        """Forget what an earlier run of the same plan used."""
        self.uses.clear()
        self.drawn = None
        self.throttles = ()

    def refused(self, throttle: Throttle) -> None:
        self.throttles = (*self.throttles, throttle)


class Ledger(Protocol):
    """Knows how much capacity is left."""

    def is_limited(self, table: Table) -> bool:
        """Whether any use of the table can be refused at all."""
        ...

    def admit(self, use: Use, usage: Usage) -> None:
        """Raise, with a note in `usage`, if the capacity that `use` needs is not there."""
        ...

    def settle(self, usage: Usage) -> None:
        """Take what was used from the capacity."""
        ...


class Recorder(Protocol):
    """Counts what happens."""

    def settle(
        self, operation: str, scope: Scope, usage: Usage | None, error: ClientError | None, seconds: float
    ) -> None:
        """A request was answered. `usage` is None where it ended before its operation was reached."""
        ...

    def note(
        self, scope: Scope, table_name: str, metric: str, value: float, dimensions: Mapping[str, str] | None = None
    ) -> None:
        """Something else was measured."""
        ...

    def job_ran(self, name: str, *, failed: bool) -> None:
        """A background job did a step, or could not."""
        ...

    def committed(self, writes: int) -> None:
        """So many writes were committed together."""
        ...

    def digest(self) -> bool:
        """Do a part of what `flush` has to do first; whether there is more of it."""
        ...

    def flush(self) -> None:
        """Let others see what was counted, soon."""
        ...

    def finish(self) -> None:
        """The same, for the last time."""
        ...


class Unlimited:
    """A ledger that refuses nothing."""

    def is_limited(self, table: Table) -> bool:
        return False

    def admit(self, use: Use, usage: Usage) -> None:
        pass

    def settle(self, usage: Usage) -> None:
        pass


class Unrecorded:
    """A recorder that forgets."""

    def settle(
        self, operation: str, scope: Scope, usage: Usage | None, error: ClientError | None, seconds: float
    ) -> None:
        pass

    def note(
        self, scope: Scope, table_name: str, metric: str, value: float, dimensions: Mapping[str, str] | None = None
    ) -> None:
        pass

    def job_ran(self, name: str, *, failed: bool) -> None:
        pass

    def committed(self, writes: int) -> None:
        pass

    def digest(self) -> bool:
        return False

    def flush(self) -> None:
        pass

    def finish(self) -> None:
        pass
