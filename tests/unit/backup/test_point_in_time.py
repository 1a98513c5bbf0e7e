"""A table can be restored to any second that point-in-time recovery reaches."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import Engine, expect
from unit.backup.history import (
    back_up,
    create,
    delete,
    fill_step,
    items,
    leftovers,
    put,
    recovery,
    restore_to,
    restored,
)

DAY = 24 * 3600
WRITES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "cc", "dd", "eee"]), st.sampled_from([None, "x", "y", "z"])), max_size=4
)


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    create(engine)
    return engine


def write(engine: Engine, writes: list[tuple[str, str | None]]) -> None:
    for sk, value in writes:
        if value is None:
            delete(engine, sk)
        else:
            put(engine, sk, value)


@settings(max_examples=40, deadline=None)
@given(before=WRITES, history=st.lists(WRITES, min_size=1, max_size=6), during=st.lists(WRITES, max_size=8))
def test_every_past_second_can_be_restored(before: Any, history: Any, during: Any) -> None:
    engine = Engine()
    create(engine)
    write(engine, before)
    recovery(engine)
    seconds = {}
    for writes in history:
        write(engine, writes)
        seconds[engine.clock.seconds()] = copy.deepcopy(items(engine))
        engine.clock.advance(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hashrange.backup.fill.ENTRIES_PER_STEP", 2)
        for number, second in enumerate(seconds):
            restore_to(engine, second, f"restored-{number}")
        for writes in during:  # the table goes on changing while it is copied
            write(engine, writes)
            fill_step(engine)
        engine.run_jobs()
    for number, expected in enumerate(seconds.values()):
        assert restored(engine, f"restored-{number}") == expected
    assert leftovers(engine) == [b"w\0\0\0\1recovery"]


def test_the_window_begins_when_recovery_is_enabled_and_ends_at_the_present_second(engine: Engine) -> None:
    describe = lambda: engine.call("DescribeContinuousBackups", TableName="table")["ContinuousBackupsDescription"]  # noqa: E731
    assert describe() == {
        "ContinuousBackupsStatus": "ENABLED",
        "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
    }
    enabled_at = engine.clock.seconds()
    recovery(engine)
    engine.clock.advance(10.7)
    assert describe()["PointInTimeRecoveryDescription"] == {
        "PointInTimeRecoveryStatus": "ENABLED",
        "RecoveryPeriodInDays": 35,
        "EarliestRestorableDateTime": enabled_at,
        "LatestRestorableDateTime": enabled_at + 10,
    }
    engine.clock.advance(40 * DAY)
    window = describe()["PointInTimeRecoveryDescription"]
    assert window["EarliestRestorableDateTime"] == pytest.approx(engine.clock.seconds() - 35 * DAY)


def test_a_longer_period_does_not_bring_back_what_a_shorter_one_gave_up(engine: Engine) -> None:
    recovery(engine)
    engine.clock.advance(10 * DAY)
    assert recovery(engine, RecoveryPeriodInDays=2)["RecoveryPeriodInDays"] == 2
    engine.run_jobs()
    earliest = recovery(engine, RecoveryPeriodInDays=35)["EarliestRestorableDateTime"]
    assert earliest == engine.clock.seconds() - 2 * DAY


def test_disabling_and_enabling_begins_anew(engine: Engine) -> None:
    recovery(engine)
    put(engine, "a")
    engine.clock.advance(100)
    assert recovery(engine, enabled=False) == {"PointInTimeRecoveryStatus": "DISABLED"}
    engine.run_jobs()
    with engine.store.read() as snapshot:
        assert list(snapshot.scan(b"l", b"m")) == []
    engine.clock.advance(100)
    assert recovery(engine)["EarliestRestorableDateTime"] == engine.clock.seconds()


def test_the_log_is_kept_for_the_recovery_period_and_no_longer(engine: Engine) -> None:
    recovery(engine, RecoveryPeriodInDays=3)
    put(engine, "a")
    engine.clock.advance(2.9 * DAY)
    put(engine, "a", "y")
    restore_to(engine, engine.clock.seconds() - 2 * DAY)
    assert restored(engine)["a"]["owner"] == {"S": "x"}
    engine.clock.advance(0.2 * DAY)
    engine.run_jobs()
    with engine.store.read() as snapshot:
        assert len(list(snapshot.scan(b"l", b"m"))) == 1


def test_the_time_must_lie_in_the_window(engine: Engine) -> None:
    engine.clock.advance(0.5)
    recovery(engine)
    start = engine.clock.seconds()
    put(engine, "a")
    engine.clock.advance(5)
    text = (
        "Restore time must be between EarliestRestorableDateTime: 2027-01-15T08:00:00Z "
        "and LatestRestorableDateTime: 2027-01-15T08:00:05Z"
    )
    for second in (start - 1, start + 6, -1e308, 1e308):
        expect("InvalidRestoreTimeException", text, lambda second=second: restore_to(engine, second))
    restore_to(engine, int(start))  # clients cut times to whole seconds
    assert list(restored(engine)) == ["a"]


def test_the_latest_restorable_time_is_now(engine: Engine) -> None:
    recovery(engine)
    put(engine, "a")
    summary = restore_to(engine, None)["RestoreSummary"]
    assert summary["RestoreDateTime"] == engine.clock.seconds()
    put(engine, "b")  # in the same microsecond
    assert list(restored(engine)) == ["a"]


def test_a_restore_goes_on_when_recovery_is_disabled_and_the_past_is_over(engine: Engine) -> None:
    recovery(engine, RecoveryPeriodInDays=1)
    put(engine, "a")
    engine.clock.advance(1)
    then = engine.clock.seconds()
    engine.clock.advance(1)
    put(engine, "a", "y")
    restore_to(engine, then)
    recovery(engine, enabled=False)
    engine.clock.advance(2 * DAY)
    put(engine, "a", "z")
    put(engine, "b", "z")
    assert {sk: item["owner"]["S"] for sk, item in restored(engine).items()} == {"a": "x"}
    assert leftovers(engine) == []
    put(engine, "c")
    engine.run_jobs()
    with engine.store.read() as snapshot:
        assert list(snapshot.scan(b"l", b"m")) == []


def test_a_restore_goes_on_when_its_source_is_deleted_and_made_anew(engine: Engine) -> None:
    recovery(engine)
    for number in range(2500):
        put(engine, str(number))
    restore_to(engine, None)
    fill_step(engine)
    put(engine, "later")
    engine.call("DeleteTable", TableName="table")
    create(engine)
    put(engine, "other")
    assert sorted(restored(engine)) == sorted(map(str, range(2500)))
    assert list(items(engine)) == ["other"]
    assert leftovers(engine) == []


def test_a_restore_resumes_after_a_restart(engine: Engine) -> None:
    recovery(engine)
    for number in range(3000):
        put(engine, str(number))
    engine.clock.advance(1)
    then = engine.clock.seconds()
    engine.clock.advance(1)
    for number in range(0, 3000, 2):
        delete(engine, str(number))
    restore_to(engine, then)
    for _ in range(3):
        assert fill_step(engine)
    reopened = Engine(engine.store)
    reopened.clock.advance(3)
    put(reopened, "new")
    delete(reopened, "1")
    assert sorted(restored(reopened)) == sorted(map(str, range(3000)))
    assert sorted(items(reopened)) == sorted([str(number) for number in range(3, 3000, 2)] + ["new"])


def test_only_describe_works_while_a_table_is_restored(engine: Engine) -> None:
    recovery(engine)
    put(engine, "a")
    source = engine.call("DescribeTable", TableName="table")["Table"]["TableArn"]
    created = restore_to(engine, None)
    described = engine.call("DescribeTable", TableName="restored")["Table"]
    assert created["TableStatus"] == described["TableStatus"] == "CREATING"
    assert described["RestoreSummary"] == {
        "SourceTableArn": source,
        "RestoreDateTime": engine.clock.seconds(),
        "RestoreInProgress": True,
    }
    assert engine.call("ListTables")["TableNames"] == ["restored", "table"]
    expect("ResourceNotFoundException", "Requested resource not found", lambda: put(engine, "b", name="restored"))
    expect("TableNotFoundException", "Table not found: restored", lambda: back_up(engine, "restored"))
    expect("TableNotFoundException", "Table not found: restored", lambda: recovery(engine, name="restored"))
    expect("TableInUseException", "Table is being restored: restored", lambda: restore_to(engine, None))
    assert list(restored(engine)) == ["a"]
    put(engine, "b", name="restored")


def test_the_checks_speak_in_order(engine: Engine) -> None:
    missing = "Source table not found: nothing"
    both = "Exactly one of UseLatestRestorableTime and RestoreDateTime must be specified"
    call = lambda **members: engine.call("RestoreTableToPointInTime", TargetTableName="table", **members)  # noqa: E731
    expect("ValidationException", both, lambda: call(SourceTableName="nothing"))
    expect(
        "ValidationException",
        "Exactly one of SourceTableArn and SourceTableName must be specified",
        lambda: call(UseLatestRestorableTime=True),
    )
    expect("TableNotFoundException", missing, lambda: call(SourceTableName="nothing", RestoreDateTime=1))
    expect(
        "PointInTimeRecoveryUnavailableException",
        "Point in time recovery is not enabled for table 'table'",
        lambda: call(SourceTableName="table", RestoreDateTime=1),
    )
    recovery(engine)
    with pytest.raises(Exception, match="InvalidRestoreTimeException"):
        call(SourceTableName="table", RestoreDateTime=1)
    expect(
        "TableAlreadyExistsException",
        "Table already exists: table",
        lambda: call(SourceTableName="table", UseLatestRestorableTime=True),
    )


def test_fifty_restores_run_at_a_time(engine: Engine) -> None:
    recovery(engine)
    for number in range(50):
        restore_to(engine, None, f"restored-{number}")
    expect(
        "LimitExceededException",
        "Subscriber limit exceeded: Only 50 restore operations can be done simultaneously",
        lambda: restore_to(engine, None, "one-too-many"),
    )
    engine.run_jobs()
    restore_to(engine, None, "one-more")


def test_a_table_in_another_region_can_be_restored_here_if_one_says_how_to_encrypt_it(engine: Engine) -> None:
    recovery(engine)
    put(engine, "a")
    arn = engine.call("DescribeTable", TableName="table")["Table"]["TableArn"]
    there = {"region": "eu-west-1", "SourceTableArn": arn}
    text = "SSESpecificationOverride is required to restore a table to another region"
    expect("ValidationException", text, lambda: restore_to(engine, None, **there))
    restore_to(engine, None, **there, SSESpecificationOverride={"Enabled": False})
    engine.run_jobs()
    assert engine.call("Scan", TableName="restored", region="eu-west-1")["Count"] == 1
