"""Counts every request, and hands what it has counted to the store about once a second.

A request must not feel that it is counted: its table and operation lead to a `Tally`, and some numbers are appended to
lists. Everything else happens some hundreds of requests at a time, or when something unusual happens. The store is
written to by plans of bounded size, and only if anything was counted; a process that is killed takes the last second
with it.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from hashrange.clock import Clock
from hashrange.engine.scope import Scope, scope_of
from hashrange.engine.table import Table
from hashrange.engine.usage import READ, Throttle, Usage, Use
from hashrange.errors import ClientError, ConditionalCheckFailedException, Throttled, TransactionConflictException
from hashrange.metrics.points import DYNAMODB, Measured, minute_of, named
from hashrange.metrics.statistic import Statistic
from hashrange.metrics.tally import INDEX, LATENCY, Tally, latency_of
from hashrange.storage.interface import Planner, Result, Store

log = logging.getLogger("hashrange.metrics")

TALLY_REQUESTS_MAX = 500  # how many are looked at in one go
TALLIES_PER_PART = 30
RECORDS_PER_PLAN = 50
RECORDS_WAITING_MAX = 10_000  # what cannot be stored for longer than this lasts is forgotten
OUTSIDE = ""  # the group of what belongs to no table
BATCHES = ("BatchGetItem", "BatchWriteItem")  # throttled only if all of it was
ONE = Statistic(1, 1.0, 1.0, 1.0)


class KeyWatcher(Protocol):
    """Counts the keys of tables that are watched (`Table.is_watched`)."""

    def record(self, use: Use) -> None: ...

    def record_throttle(self, throttle: Throttle) -> None: ...

    def handover(self) -> Planner | None: ...


class MetricsRecorder:
    """The recorder of a server. All of it runs in the thread of the event loop."""

    def __init__(self, store: Store, clock: Clock, home: Scope, keys: KeyWatcher | None = None) -> None:
        self._store = store
        self._now = clock.seconds
        self._home = home  # where what belongs to no account is counted
        self._keys = keys
        self._commits: list[int] = []  # how many writes each had
        self._tallies: dict[Table, dict[str, Tally]] = {}  # by operation
        self._full: deque[tuple[int, Tally]] = deque()  # those that wait to be looked at, with their minutes
        self._measured = Measured()
        self._writing = 0  # plans on their way
        self._minute = 0
        self._ends = 0.0  # the minute that is counted now

    def settle(
        self, operation: str, scope: Scope, usage: Usage | None, error: ClientError | None, seconds: float
    ) -> None:
        if self._now() >= self._ends:
            self._turn()
        if error is not None or usage is None or len(usage.uses) != 1 or usage.throttles:
            self._settle_unusual(operation, scope, usage, error, seconds)
            return
        use = usage.uses[0]
        table = use.table
        try:
            tally = self._tallies[table][operation]
        except KeyError:
            tally = self._tally(table, operation)
        values = tally.seconds
        values.append(seconds)
        consumed = use.consumed
        if use.evaluated is None and not consumed.global_indexes and not consumed.local_indexes:
            # Items by their keys, and no indexes: which nothing may slow down.
            (tally.reads if use.kind is READ else tally.writes).append(consumed.table)
        else:
            tally.use(use)
        if table.is_watched and self._keys is not None:
            self._keys.record(use)
        if len(values) >= TALLY_REQUESTS_MAX:
            self._look_at(tally, self._minute)

    def note(
        self, scope: Scope, table_name: str, metric: str, value: float, dimensions: Mapping[str, str] | None = None
    ) -> None:
        """Something was measured that no request's usage tells."""
        if self._now() >= self._ends:
            self._turn()
        statistic = Statistic(1, value, value, value)
        self._measured.add(scope, DYNAMODB, table_name, self._minute, named(metric, dimensions or {}), statistic)

    def job_ran(self, name: str, *, failed: bool) -> None:
        job = {"Job": name}
        self.note(self._home, OUTSIDE, ".JobFailures" if failed else ".JobSteps", 1, job)
        self.note(self._home, OUTSIDE, ".JobLastRun", self._now(), job)

    def committed(self, writes: int) -> None:
        """So many writes were committed together."""
        self._commits.append(writes)
        if len(self._commits) >= TALLY_REQUESTS_MAX:
            self._digest_commits()

    def digest(self) -> bool:
        """Make statistics of a part of what was counted; whether there is more. A handover of thousands of tables is
        prepared this way, between the requests of others."""
        if self._writing:
            return False
        if not self._full:
            self._turn()
        for _ in range(min(TALLIES_PER_PART, len(self._full))):
            minute, tally = self._full.popleft()
            self._look_at(tally, minute)
        return bool(self._full)

    def flush(self) -> None:
        """Hand over what was counted. Does nothing while the last handover is still on its way."""
        if not self._writing:
            self.finish()

    def finish(self) -> None:
        """Hand over what was counted; there will be no other time."""
        self._turn()
        while self._full:
            minute, tally = self._full.popleft()
            self._look_at(tally, minute)
        if self._measured.records and self._commits:  # a handover is a commit too, and not worth another one
            self._digest_commits()
        measured, self._measured = self._measured, Measured()
        for piece in pieces(measured):
            self._write(piece.plan, piece)
        counted = None if self._keys is None else self._keys.handover()
        if counted is not None:
            self._write(counted, Measured())

    # Requests that are not one successful use of one table

    def _settle_unusual(
        self, operation: str, scope: Scope, usage: Usage | None, error: ClientError | None, seconds: float
    ) -> None:
        uses = () if usage is None else usage.uses
        throttles = () if usage is None else usage.throttles
        tables = {use.table: None for use in uses}
        for use in uses:
            self._tally(use.table, operation).use(use)
            if use.table.is_watched and self._keys is not None:
                self._keys.record(use)
        if error is None:
            for table in tables:
                self._tally(table, operation).seconds.append(seconds)
            if not tables:
                self._add(scope, OUTSIDE, f".{LATENCY}/Operation={operation}", latency_of([seconds]))
        else:
            self._failed(operation, scope, list(tables), error)
        if throttles:
            self._throttled(operation, throttles, error)

    def _failed(self, operation: str, scope: Scope, tables: list[Table], error: ClientError) -> None:
        self._add(scope, OUTSIDE, named(".Errors", {"Operation": operation, "Code": error.code}))
        if error.status >= 500:
            for table in tables:
                self._add_to(table, named("SystemErrors", {"Operation": operation}))
            if not tables:
                self._add(scope, OUTSIDE, named("SystemErrors", {"Operation": operation}))
        elif isinstance(error, ConditionalCheckFailedException):
            for table in tables:
                self._add_to(table, "ConditionalCheckFailedRequests")
        elif not isinstance(error, Throttled):
            self._add(scope, OUTSIDE, "UserErrors")
        if isinstance(error, TransactionConflictException):
            for table in tables:
                self._add_to(table, "TransactionConflict")

    def _throttled(self, operation: str, throttles: Iterable[Throttle], error: ClientError | None) -> None:
        tables: dict[Table, None] = {}
        for throttle in throttles:
            table = throttle.use.table
            tables[table] = None
            dimensions = {} if throttle.index is None else {INDEX: throttle.index}
            self._add_to(table, named(f"{throttle.use.kind}ThrottleEvents", dimensions))
            self._add_to(table, named(reason_metric(throttle.reason), dimensions))
            if table.is_watched and self._keys is not None:
                self._keys.record_throttle(throttle)
        if operation not in BATCHES or error is not None:
            for table in tables:
                self._add_to(table, named("ThrottledRequests", {"Operation": operation}))

    # From values to statistics to the store

    def _tally(self, table: Table, operation: str) -> Tally:
        operations = self._tallies.setdefault(table, {})
        tally = operations.get(operation)
        if tally is None:
            tally = operations[operation] = Tally(table, operation)
        return tally

    def _add_to(self, table: Table, name: str) -> None:
        self._add(scope_of(table.definition.account, table.definition.region), table.name, name)

    def _add(self, scope: Scope, group: str, name: str, statistic: Statistic = ONE) -> None:
        self._measured.add(scope, DYNAMODB, group, self._minute, name, statistic)

    def _look_at(self, tally: Tally, minute: int) -> None:
        for name, statistic in tally.take():
            self._measured.add(tally.scope, DYNAMODB, tally.table_name, minute, name, statistic)

    def _digest_commits(self) -> None:
        self._add(self._home, OUTSIDE, ".Commits", Statistic.distributed(self._commits))
        self._commits = []

    def _turn(self) -> None:
        """What was counted so far belongs to the minute that was; from now on perhaps another one counts. Tables that
        are no longer used are not kept alive."""
        minute = self._minute
        self._full += [(minute, tally) for operations in self._tallies.values() for tally in operations.values()]
        self._tallies = {}
        self._minute = minute_of(self._now())
        self._ends = (self._minute + 1) * 60.0

    def _write(self, plan: Planner, measured: Measured) -> None:
        def done(result: Result) -> None:
            self._writing -= 1
            if result.error is not None:
                self._keep(measured, result.error)

        self._writing += 1
        self._store.write(plan, done)

    def _keep(self, measured: Measured, error: BaseException) -> None:
        """What could not be stored is tried again with the rest."""
        if len(self._measured.records) < RECORDS_WAITING_MAX:
            self._measured.include(measured)
        else:
            log.warning("measurements of some minutes are lost: %s", error)


def pieces(measured: Measured) -> Iterator[Measured]:
    """The same in parts that a plan can add in a few milliseconds."""
    items = list(measured.records.items())
    for start in range(0, len(items), RECORDS_PER_PLAN):
        yield Measured(dict(items[start : start + RECORDS_PER_PLAN]))


def reason_metric(reason: str) -> str:
    """TableReadProvisionedThroughputExceeded is counted by ReadProvisionedThroughputThrottleEvents."""
    return reason.removeprefix("Table").removeprefix("Index").removesuffix("Exceeded") + "ThrottleEvents"
