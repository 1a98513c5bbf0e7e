"""The ledger: what is left of the capacity of every table, and who is refused.

Every limit has a bucket of credit. Each worker process keeps buckets of its own, but what flows out of them is the sum
over all workers (see `board`), so they stay the same but for the requests of the moment. Once a second they are
brought up to date, and those that are full are forgotten; a new one is full, but for what somebody else knows: another
worker or, in the first minutes of a server, the metrics of the one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2s

from hashrange.capacity.board import Board, Sum
from hashrange.capacity.bucket import BURST_SECONDS, Bucket, Minute
from hashrange.capacity.limits import Cause, Limit, Owner, Throttling, limits_of, partition_count, warm_units
from hashrange.capacity.partitions import Partitions
from hashrange.capacity.refusal import reason_of, refusal
from hashrange.clock import Clock
from hashrange.engine.definition import IndexDefinition
from hashrange.engine.table import Table
from hashrange.engine.usage import READ, WRITE, Throttle, Usage, Use
from hashrange.errors import Throttled
from hashrange.limits import PARTITION_READ_UNITS, PARTITION_WRITE_UNITS

KINDS = (READ, WRITE)

Earlier = Callable[[Table, str | None, str, Cause], Sequence[Minute]]
"""What was read or written of a table or index in each of the last minutes, the oldest first."""


@dataclass(frozen=True, slots=True)
class CapacitySettings:
    """What an operator may choose about limits."""

    throttling: Throttling = Throttling.DECLARED
    adaptive: bool = True  # whether a partition may have more than its equal share of a table's throughput
    split_minutes: int = 0  # after so many hot minutes a partition is split; 0: never


class Arm:
    """One limit at work."""

    __slots__ = ("_bucket", "_sum", "index", "is_known", "limit", "name")

    def __init__(self, name: bytes, limit: Limit, index: str | None, sum: Sum, second: int) -> None:
        self._sum = sum
        self._bucket = Bucket(limit.rate, limit.burst_seconds, second, sum.total())
        seen = sum.told()
        self.is_known = seen is not None  # to another worker, or to an earlier one
        if seen is not None:
            self._bucket.go_on_from(seen)
        self.name = name
        self.limit = limit
        self.index = index

    def resize(self, limit: Limit) -> None:
        self._bucket.resize(limit.rate)
        self.limit = limit

    def credit(self, second: int) -> float:
        return self._bucket.at(second, self._sum.total())

    def update(self, second: int) -> None:
        self._bucket.level(second, self._sum.total())
        self._sum.tell(self._bucket.seen)

    def spend(self, units: float, second: int) -> None:
        self.update(second)  # what flowed in before this was used
        self._sum.add(units)

    def replay(self, minutes: Sequence[Minute]) -> None:
        self._bucket.replay(minutes)

    @property
    def is_full(self) -> bool:
        return self._bucket.is_full


@dataclass(slots=True)
class Side:
    """The limits on reads or writes of a table or index: of all of it, and of each partition."""

    table: Table
    index: str | None
    kind: str
    name: bytes
    limits: tuple[tuple[bytes, Limit], ...]  # with the names of their sums
    partitions: Partitions | None = None
    partition_limit: Limit | None = None


@dataclass(slots=True)
class Allowance:
    """Everything that limits a table, as its definition says."""

    sides: dict[tuple[str | None, str], Side]

    @property
    def is_limited(self) -> bool:
        return any(side.limits or side.partitions for side in self.sides.values())


class TokenLedger:
    """A ledger with a bucket for each limit."""

    def __init__(self, clock: Clock, board: Board, settings: CapacitySettings, earlier: Earlier) -> None:
        self._clock = clock
        self._board = board
        self.settings = settings
        self._earlier = earlier
        self._started = clock.seconds()
        self._arms: dict[bytes, Arm] = {}  # those that are not full
        self._fresh: list[tuple[Side, Arm]] = []  # arms that do not know the last minutes yet

    def is_limited(self, table: Table) -> bool:
        return self._allowance(table) is not None

    def admit(self, use: Use, usage: Usage) -> None:
        allowance = self._allowance(use.table)
        if allowance is None:
            return
        second = int(self._clock.seconds())
        drawn = {} if usage.drawn is None else usage.drawn  # by what the same request did before
        charges = list(self._charges(allowance, use))
        lacking = [(side, arm) for side, arm, _ in charges if arm.credit(second) <= drawn.get(arm, 0.0)]
        if lacking:
            raise self._refuse(use, usage, lacking, second)
        for _, arm, units in charges:
            drawn[arm] = drawn.get(arm, 0.0) + units
        usage.drawn = drawn

    def _refuse(self, use: Use, usage: Usage, lacking: Sequence[tuple[Side, Arm]], second: int) -> Throttled:
        refused: list[tuple[Throttle, Cause]] = []
        for side, arm in lacking:
            throttle = Throttle(use, arm.index, reason_of(arm.index, use.kind, arm.limit.cause))
            usage.refused(throttle)
            refused.append((throttle, arm.limit.cause))
            if side.partitions is not None and arm.limit is side.partition_limit:
                side.partitions.refused(use.base_key, second // 60)
        return refusal(use.table, refused)

    def settle(self, usage: Usage) -> None:
        if self._fresh:
            self._remember()
        second = int(self._clock.seconds())
        for arm, units in (usage.drawn or {}).items():
            self._arms.setdefault(arm.name, arm).spend(units, second)  # it may have been forgotten since it was asked

    def tick(self) -> None:
        """Once a second: take in what other workers used, and forget buckets that are as good as new."""
        if self._fresh:
            self._remember()
        second = int(self._clock.seconds())
        for name, arm in tuple(self._arms.items()):
            arm.update(second)
            if arm.is_full:
                del self._arms[name]

    def splits(self, table: Table) -> Iterator[bytes]:
        """Where the table's partitions have been hot for so long that they should be split."""
        allowance = self._allowance(table)
        if allowance is None or not self.settings.split_minutes:
            return
        inside = not table.definition.local_indexes
        for kind in KINDS:
            partitions = allowance.sides[None, kind].partitions
            for heat in () if partitions is None else partitions.heats.values():
                bound = heat.split(self.settings.split_minutes, inside_collections=inside)
                if bound is not None:
                    yield bound

    def _charges(self, allowance: Allowance, use: Use) -> Iterator[tuple[Side, Arm, float]]:
        """Every limit that a use draws on, and by how much."""
        consumed = use.consumed
        own = consumed.table + sum(consumed.local_indexes.values())
        if own:
            yield from self._draw(allowance.sides[None, use.kind], own, b"" if use.index else use.base_key)
        for name, units in consumed.global_indexes.items():
            side = allowance.sides.get((name, use.kind))
            if side is not None and units:
                yield from self._draw(side, units, use.base_key if use.index else b"")

    def _draw(self, side: Side, units: float, base_key: bytes) -> Iterator[tuple[Side, Arm, float]]:
        for name, limit in side.limits:
            yield side, self._arm(name, limit, side), units
        if base_key and side.partitions is not None and side.partition_limit is not None:
            first = side.partitions.first_of(side.partitions.number_of(base_key))
            name = side.name + b"k" + blake2s(first, digest_size=4).hexdigest().encode()
            yield side, self._arm(name, side.partition_limit, side), units

    def _allowance(self, table: Table) -> Allowance | None:
        """None if the table has no limits."""
        if not table.allowance_is_known:
            table.allowance = self._limits(table)
            table.allowance_is_known = True
        allowance = table.allowance
        assert allowance is None or isinstance(allowance, Allowance)
        return allowance

    def _limits(self, table: Table) -> Allowance | None:
        definition = table.definition
        owners: list[tuple[str | None, Owner]] = [(None, definition)]
        owners += [(index.name, index) for index in definition.global_indexes]
        sides = {(name, kind): self._side(table, name, owner, kind) for name, owner in owners for kind in KINDS}
        allowance = Allowance(sides)
        return allowance if allowance.is_limited else None

    def _side(self, table: Table, index: str | None, owner: Owner, kind: str) -> Side:
        definition = table.definition
        number = owner.number if isinstance(owner, IndexDefinition) else 0
        name = b"%x.%x.%b" % (definition.id, number, kind[:1].encode())
        found = limits_of(definition, owner, kind, self.settings.throttling)
        limits = tuple((name + limit.name.encode(), limit) for limit in found)
        if self.settings.throttling is not Throttling.SERVICE:
            return Side(table, index, kind, name, limits)
        splits = [bytes.fromhex(bound) for bound in definition.partition_splits] if index is None else []
        partitions = Partitions(partition_count(definition), splits)
        rate: float = PARTITION_READ_UNITS if kind == READ else PARTITION_WRITE_UNITS
        if not self.settings.adaptive:
            rate = min(rate, warm_units(definition, owner, kind) / partitions.count)
        return Side(table, index, kind, name, limits, partitions, Limit("k", rate, 1, Cause.KEY_RANGE))

    def _arm(self, name: bytes, limit: Limit, side: Side) -> Arm:
        arm = self._arms.get(name)
        if arm is None:
            arm = Arm(name, limit, side.index, self._board.sum(name), int(self._clock.seconds()))
            arm = self._arms.setdefault(name, arm)
            if not arm.is_known and limit.burst_seconds == BURST_SECONDS and self._began_before(side.table):
                self._fresh.append((side, arm))
        elif arm.limit is not limit:
            arm.resize(limit)
        return arm

    def _began_before(self, table: Table) -> bool:
        """Whether there may be use of the table that only the metrics of an earlier server tell of."""
        is_recent = 0 <= self._clock.seconds() - self._started < BURST_SECONDS
        return is_recent and table.definition.created_at_micros < self._started * 1_000_000

    def _remember(self) -> None:
        """Take from new buckets what the last minutes used. Here, because only here may the store be read."""
        fresh, self._fresh = self._fresh, []
        for side, arm in fresh:
            arm.replay(self._earlier(side.table, side.index, side.kind, arm.limit.cause))
