"""What a ledger remembers: of an earlier server, of other workers, of a table that had the same name."""

from __future__ import annotations

from typing import Any

import pytest

from harness import ApiError, Engine
from hashrange.capacity.board import SharedBoard
from hashrange.capacity.ledger import CapacitySettings, TokenLedger
from hashrange.clock import ManualClock
from hashrange.storage.memory import MemoryStore

THROTTLED = "ProvisionedThroughputExceededException"
MINUTE_BEGINS = 1_800_000_000.0
WRITE_UNITS = 2
BURST = 300 * WRITE_UNITS
UNITS = {"ReadCapacityUnits": 1, "WriteCapacityUnits": WRITE_UNITS}


def provisioned(engine: Engine) -> Engine:
    engine.create_table(BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)
    return engine


def put(engine: Engine) -> Any:
    return engine.call("PutItem", TableName="table", Item={"pk": {"S": "p"}, "sk": {"S": "s"}})


def puts_until_throttled(engine: Engine, most: int = 5000) -> int:
    for number in range(most):
        try:
            put(engine)
        except ApiError as error:
            if error.code == THROTTLED:
                return number
            raise
    raise AssertionError("never throttled")


def restarted(engine: Engine) -> Engine:
    """Another server on the same store, after the first has stopped as it should."""
    engine.db.recorder.flush()
    engine.clock.advance(1)
    return Engine(engine.store, clock=engine.clock)


def test_a_restart_does_not_bring_credit() -> None:
    engine = provisioned(Engine(clock=ManualClock(MINUTE_BEGINS + 30)))
    assert puts_until_throttled(engine) == BURST
    again = restarted(engine)
    put(again)  # the first request is let in, since what was before is read after it
    assert puts_until_throttled(again) == 0


def test_a_table_that_was_always_busy_does_not_burst_after_a_restart() -> None:
    engine = provisioned(Engine(clock=ManualClock(MINUTE_BEGINS)))
    puts_until_throttled(engine)
    for _ in range(60):
        engine.clock.advance(10)
        assert puts_until_throttled(engine) == 10 * WRITE_UNITS
    again = restarted(engine)
    put(again)
    assert puts_until_throttled(again) == 0
    again.clock.advance(10)
    assert puts_until_throttled(again) == 10 * WRITE_UNITS - 1


def test_a_table_has_nothing_to_do_with_an_earlier_one_of_its_name() -> None:
    engine = provisioned(Engine())
    puts_until_throttled(engine)
    engine.db.recorder.flush()
    engine.call("DeleteTable", TableName="table")
    assert puts_until_throttled(provisioned(engine)) == BURST


def test_what_was_used_on_demand_is_no_debt_of_a_provisioned_table() -> None:
    engine = Engine()
    engine.create_table()
    for _ in range(3 * BURST):
        put(engine)
    engine.db.recorder.flush()
    engine.call("UpdateTable", TableName="table", BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)
    assert puts_until_throttled(engine) == BURST


def test_a_worker_that_was_idle_sees_the_burst_of_another() -> None:
    store, clock, board = MemoryStore(), ManualClock(), SharedBoard(2)
    workers = [Engine(store, clock=clock), Engine(store, clock=clock)]
    for worker in workers:
        worker.db.ledger = TokenLedger(clock, board, CapacitySettings(), lambda *_: ())
    provisioned(workers[0])
    for worker in workers:
        put(worker)
    clock.advance(3600)
    for worker in workers:  # both buckets are full again
        ledger = worker.db.ledger
        assert isinstance(ledger, TokenLedger)
        ledger.tick()
    clock.advance(3600)
    assert puts_until_throttled(workers[0]) == BURST
    with pytest.raises(ApiError, match=THROTTLED):
        put(workers[1])
