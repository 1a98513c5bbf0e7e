"""Answers that are not there yet: what has to be written goes through one bounded queue, and what takes long to read is
read between the requests of others. All doors share these."""

from __future__ import annotations

from hashrange.http.exchange import Exchange
from hashrange.http.long_reads import LongReads
from hashrange.http.overload import MEMORY_BYTES_MAX, CallSoon, Memory, WriteQueue
from hashrange.operations.operation import Answer, LongRead, Write
from hashrange.storage.interface import Done, Result, Store


class Pending:
    """Brings answers to their end."""

    def __init__(self, store: Store, memory: Memory | None = None, call_soon: CallSoon | None = None) -> None:
        memory = memory or Memory.of(MEMORY_BYTES_MAX)
        self.writes = WriteQueue(store, memory.writes, call_soon)
        self.long_reads = LongReads(memory.reads, call_soon)

    def finish(self, answer: Answer, done: Done, exchange: Exchange) -> None:
        """Have `done` called with the answer, now or later; ServiceUnavailable if too many wait."""
        if isinstance(answer, Write):
            self.writes.write(answer.plan, done, exchange.body)
        elif isinstance(answer, LongRead):
            self.long_reads.start(answer, done, exchange)
        else:
            done(Result(answer))
