"""The writer thread of an LMDB store: it runs plans and commits them in groups.

All plans that arrive while the disk is syncing run in the next write transaction, one after the other, each seeing
what the ones before it wrote. One sync makes all of them durable, and then all their results are handed over in one
call. Errors wait for the commit too: a plan may have failed because of something that an earlier one wrote, and
nobody must hear of that before it is certain.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

import lmdb

from hashrange.storage.interface import Completions, Deliver, Done, Lost, Plan, Planner, Result, StoreError
from hashrange.storage.lmdb_snapshot import TransactionSnapshot, as_store_error
from hashrange.storage.long_keys import STRIDE, delete_long, put_long
from hashrange.storage.plans import checked_size_bytes

BATCH_PLANS_MAX = 1000
BATCH_BYTES_MAX = 16 * 1024 * 1024

logger = logging.getLogger(__name__)

Entry = tuple[Planner, Done]


class Writer:
    """Takes plans from any thread and runs them in its own."""

    def __init__(self, environment: lmdb.Environment, deliver: Deliver, lost: Lost) -> None:
        self._environment = environment
        self._deliver = deliver
        self._lost = lost
        self._queue: SimpleQueue[Entry | None] = SimpleQueue()  # None comes last
        self._lock = threading.Lock()
        self._closed = False
        self._finished = False
        self._thread = threading.Thread(target=self._loop, name="hashrange-writer", daemon=True)
        self._thread.start()

    def submit(self, plan: Planner, done: Done) -> bool:
        """Accept a plan, or return False if the writer takes no more."""
        with self._lock:
            if self._closed:
                return False
            self._queue.put((plan, done))
            return True

    def close(self) -> None:
        """Take no more plans, and return when the accepted ones are done."""
        assert threading.current_thread() is not self._thread
        with self._lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _loop(self) -> None:
        while not self._finished:
            first = self._queue.get()  # sleeps here while there is nothing to do
            if first is None:
                return
            completions = self._commit_group(first)
            try:
                self._deliver(completions)
            except Exception:
                logger.exception("a result could not be delivered")
            if isinstance(completions[0][1].error, StoreError) and is_lost(self._environment):
                self._lost()

    def _commit_group(self, first: Entry) -> Completions:
        group = Group(first)
        try:
            with self._environment.begin(write=True) as transaction:  # commits, or aborts on an error
                group.run(transaction, self._next)
        except Exception as error:
            logger.error("a group of %d writes failed: %s", len(group.entries), error)
            return group.failed(error)
        return group.completions()

    def _next(self) -> Entry | None:
        """The next plan that is already waiting."""
        try:
            entry = self._queue.get_nowait()
        except Empty:
            return None
        self._finished = entry is None
        return entry


def is_lost(environment: lmdb.Environment) -> bool:
    """Whether the root could not be written. What is on the disk is sound then, but LMDB lets this process neither read
    nor write any more; one that opens the database anew may."""
    try:
        environment.begin().abort()
    except lmdb.PanicError:
        return True
    except lmdb.Error:
        return False
    return False


class Group:
    """The plans of one write transaction, and what became of each."""

    def __init__(self, first: Entry) -> None:
        self.entries = [first]
        self._results: list[Result] = []
        self._adds: dict[bytes, int] = {}
        self._size_bytes = 0

    def run(self, transaction: lmdb.Transaction[bytes], take: Callable[[], Entry | None]) -> None:
        """Run the first plan and the ones that wait behind it, and leave their changes in the transaction."""
        snapshot = TransactionSnapshot(transaction)
        entry: Entry | None = self.entries[0]
        while entry is not None:
            self._results.append(self._run_plan(entry[0], snapshot, transaction))
            if len(self.entries) >= BATCH_PLANS_MAX or self._size_bytes >= BATCH_BYTES_MAX:
                break
            entry = take()
            if entry is not None:
                self.entries.append(entry)
        self._apply_adds(transaction)

    def completions(self) -> Completions:
        return [(done, result) for (_, done), result in zip(self.entries, self._results, strict=True)]

    def failed(self, error: BaseException) -> Completions:
        """The completions when nothing of the group was kept."""
        result = Result(error=as_store_error(error))
        return [(done, result) for _, done in self.entries]

    def _run_plan(
        self, planner: Planner, snapshot: TransactionSnapshot, transaction: lmdb.Transaction[bytes]
    ) -> Result:
        try:
            plan = planner(snapshot)
            self._size_bytes += checked_size_bytes(plan)
        except lmdb.Error as error:
            return Result(error=as_store_error(error))
        except BaseException as error:  # this thread has nobody else to tell
            return Result(error=error)
        self._apply(plan, transaction)
        return Result(plan.answer)

    def _apply(self, plan: Plan, transaction: lmdb.Transaction[bytes]) -> None:
        adds = self._adds
        for key, value in plan.mutations:
            if adds:
                adds.pop(key, None)  # what was added before is replaced with the rest
            if len(key) > STRIDE:
                if value is None:
                    delete_long(transaction, key)
                else:
                    put_long(transaction, key, value)
            elif value is None:
                transaction.delete(key)
            else:
                transaction.put(key, value)
        for key, amount in plan.adds:
            adds[key] = adds.get(key, 0) + amount

    def _apply_adds(self, transaction: lmdb.Transaction[bytes]) -> None:
        """Add up each counter once for the whole group."""
        snapshot = TransactionSnapshot(transaction)
        for key, amount in self._adds.items():
            total = int.from_bytes(snapshot.get(key) or b"", "little", signed=True) + amount
            put_long(transaction, key, total.to_bytes(8, "little", signed=True))
