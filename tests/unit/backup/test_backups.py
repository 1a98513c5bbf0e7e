"""A backup is the table at one moment, whatever happens to the table afterwards."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import Engine, expect
from hashrange.engine.database import DatabaseSettings
from unit.backup.history import (
    back_up,
    create,
    delete,
    fill_step,
    items,
    leftovers,
    put,
    recovery,
    restore,
    restored,
)

DAY = 24 * 3600
WRITE = st.tuples(st.sampled_from(["a", "b", "cc", "dd", "eee"]), st.sampled_from([None, "x", "y", "z"]))


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    create(engine)
    return engine


def write(engine: Engine, sk: str, value: str | None) -> None:
    if value is None:
        delete(engine, sk)
    else:
        put(engine, sk, value)


@settings(max_examples=60, deadline=None)
@given(actions=st.lists(st.one_of(WRITE, st.sampled_from(["back up", "step", "tick"])), max_size=25))
def test_backups_under_concurrent_writes_are_what_the_table_was(actions: list[Any]) -> None:
    engine = Engine()
    create(engine)
    expected: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hashrange.backup.fill.ENTRIES_PER_STEP", 2)
        for action in actions:
            if action == "back up":
                expected[back_up(engine)] = copy.deepcopy(items(engine))
            elif action == "step":
                fill_step(engine)
            elif action == "tick":
                engine.clock.advance(0.3)
            else:
                write(engine, *action)
        engine.run_jobs()
    assert leftovers(engine) == []
    for number, (arn, then) in enumerate(expected.items()):
        described = engine.call("DescribeBackup", BackupArn=arn)["BackupDescription"]["SourceTableDetails"]
        assert described["ItemCount"] == len(then)
        restore(engine, arn, f"restored-{number}")
        assert restored(engine, f"restored-{number}") == then


def test_making_a_backup_writes_the_same_little_whatever_the_table_s_size(engine: Engine) -> None:
    for number in range(500):
        put(engine, str(number))
    with engine.store.read() as snapshot:
        before = dict(snapshot.scan(b"\0", b"\xfe"))
    back_up(engine)
    with engine.store.read() as snapshot:
        written = [key for key, value in snapshot.scan(b"\0", b"\xfe") if before.get(key) != value]
    assert {key[:1] for key in written} == {b"c", b"f", b"k", b"m", b"w"}
    assert len(written) == 5


def test_a_backup_outlives_its_table(engine: Engine) -> None:
    for number in range(2200):
        put(engine, str(number))
    arn = back_up(engine)
    fill_step(engine)
    engine.call("DeleteTable", TableName="table")
    engine.run_jobs()
    with engine.store.read() as snapshot:
        assert list(snapshot.scan(b"i", b"j")) == []
        assert list(snapshot.scan(b"l", b"m")) == []
    restore(engine, arn)
    assert sorted(restored(engine)) == sorted(map(str, range(2200)))


def test_a_backup_resumes_after_a_restart(engine: Engine) -> None:
    for number in range(2500):
        put(engine, str(number))
    then = copy.deepcopy(items(engine))
    arn = back_up(engine)
    fill_step(engine)
    reopened = Engine(engine.store)
    for number in range(0, 2500, 3):
        delete(reopened, str(number))
        put(reopened, f"new-{number}")
    restore(reopened, arn)
    assert restored(reopened) == then


def test_a_restore_waits_for_a_backup_that_is_still_being_copied(engine: Engine) -> None:
    for number in range(1500):
        put(engine, str(number))
    arn = back_up(engine)
    restore(engine, arn)
    assert fill_step(engine)
    put(engine, "later")
    assert len(restored(engine)) == 1500


def test_what_a_backup_says(engine: Engine) -> None:
    put(engine, "a")
    engine.call(
        "UpdateTimeToLive",
        TableName="table",
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
    )
    table = engine.call("DescribeTable", TableName="table")["Table"]
    details = engine.call("CreateBackup", TableName="table", BackupName="nightly")["BackupDetails"]
    arn = details.pop("BackupArn")
    assert arn.startswith(table["TableArn"] + "/backup/01800000000000-")
    assert details == {
        "BackupName": "nightly",
        "BackupSizeBytes": table["TableSizeBytes"],
        "BackupStatus": "CREATING",
        "BackupType": "USER",
        "BackupCreationDateTime": engine.clock.seconds(),
    }
    described = engine.call("DescribeBackup", BackupArn=arn)["BackupDescription"]
    assert described["BackupDetails"] == {**details, "BackupArn": arn, "BackupStatus": "AVAILABLE"}
    assert described["SourceTableDetails"] == {
        "TableName": "table",
        "TableId": table["TableId"],
        "TableArn": table["TableArn"],
        "TableSizeBytes": table["TableSizeBytes"],
        "KeySchema": table["KeySchema"],
        "TableCreationDateTime": table["CreationDateTime"],
        "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0},
        "ItemCount": 1,
        "BillingMode": "PAY_PER_REQUEST",
    }
    features = described["SourceTableFeatureDetails"]
    assert [index["IndexName"] for index in features["GlobalSecondaryIndexes"]] == ["by-owner"]
    assert [index["IndexName"] for index in features["LocalSecondaryIndexes"]] == ["by-place"]
    assert features["TimeToLiveDescription"] == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}


def test_a_deleted_backup_is_gone_with_all_its_items(engine: Engine) -> None:
    for number in range(1200):
        put(engine, str(number))
    arn, other = back_up(engine), back_up(engine)
    engine.run_jobs()
    deleted = engine.call("DeleteBackup", BackupArn=arn)["BackupDescription"]
    assert deleted["BackupDetails"]["BackupStatus"] == "DELETED"
    gone = f"Backup not found: {arn}"
    for operation in ("DescribeBackup", "DeleteBackup"):
        expect("BackupNotFoundException", gone, lambda operation=operation: engine.call(operation, BackupArn=arn))
    expect("BackupNotFoundException", gone, lambda: restore(engine, arn))
    engine.run_jobs()
    engine.call("DeleteBackup", BackupArn=other)
    engine.run_jobs()
    with engine.store.read() as snapshot:
        assert list(snapshot.scan(b"a", b"b")) == []
        assert list(snapshot.scan(b"k", b"l")) == []


def test_a_backup_can_be_deleted_while_it_is_copied(engine: Engine) -> None:
    for number in range(1200):
        put(engine, str(number))
    arn = back_up(engine)
    fill_step(engine)
    engine.call("DeleteBackup", BackupArn=arn)
    engine.run_jobs()
    assert leftovers(engine) == []
    with engine.store.read() as snapshot:
        assert list(snapshot.scan(b"a", b"b")) == []


def test_a_backup_in_use_is_not_deleted_and_not_restored_twice(engine: Engine) -> None:
    put(engine, "a")
    arn = back_up(engine)
    restore(engine, arn)
    text = f"Backup is being restored: {arn}"
    expect("BackupInUseException", text, lambda: engine.call("DeleteBackup", BackupArn=arn))
    expect("BackupInUseException", text, lambda: restore(engine, arn, "another"))
    assert list(restored(engine)) == ["a"]
    expect("TableAlreadyExistsException", "Table already exists: restored", lambda: restore(engine, arn))
    engine.call("DeleteBackup", BackupArn=arn)


def test_a_deleted_table_with_recovery_leaves_a_backup_for_35_days(engine: Engine) -> None:
    recovery(engine)
    put(engine, "a")
    engine.call("DeleteTable", TableName="table")
    engine.run_jobs()
    assert engine.call("ListBackups")["BackupSummaries"] == []
    (summary,) = engine.call("ListBackups", BackupType="SYSTEM")["BackupSummaries"]
    arn = summary["BackupArn"]
    assert summary["BackupName"] == "table$DeletedTableBackup"
    assert summary["BackupType"] == "SYSTEM"
    assert summary["BackupExpiryDateTime"] == engine.clock.seconds() + 35 * DAY
    text = f"A system backup cannot be deleted: {arn}"
    expect("ValidationException", text, lambda: engine.call("DeleteBackup", BackupArn=arn))
    restore(engine, arn)
    assert list(restored(engine)) == ["a"]
    engine.clock.advance(35 * DAY)
    expect("BackupNotFoundException", f"Backup not found: {arn}", lambda: restore(engine, arn, "again"))
    engine.run_jobs()
    with engine.store.read() as snapshot:
        assert [list(snapshot.scan(kind, bytes((kind[0] + 1,)))) for kind in (b"a", b"k", b"l")] == [[], [], []]


def test_a_deleted_table_without_recovery_leaves_none(engine: Engine) -> None:
    engine.call("DeleteTable", TableName="table")
    assert engine.call("ListBackups", BackupType="ALL")["BackupSummaries"] == []


def test_backups_are_listed_by_table_kind_and_time(engine: Engine) -> None:
    create(engine, "other")
    made: dict[str, float] = {}
    for name in ("table", "other", "table", "table"):
        made[back_up(engine, name)] = engine.clock.seconds()
        engine.clock.advance(10)

    def listed(**members: Any) -> list[str]:
        return [each["BackupArn"] for each in engine.call("ListBackups", **members)["BackupSummaries"]]

    first, other, second, third = made
    assert listed() == [other, first, second, third]
    assert listed(TableName="table") == [first, second, third]
    assert listed(TableName=first.partition("/backup/")[0]) == [first, second, third]
    assert listed(TableName="nothing") == listed(BackupType="SYSTEM") == listed(region="eu-west-1") == []
    assert listed(BackupType="ALL") == listed(BackupType="USER") == listed()
    assert listed(TimeRangeLowerBound=made[other], TimeRangeUpperBound=made[third]) == [other, second]
    page = engine.call("ListBackups", Limit=3)
    assert page["LastEvaluatedBackupArn"] == second
    assert listed(ExclusiveStartBackupArn=second) == [third]
    assert "LastEvaluatedBackupArn" not in engine.call("ListBackups", Limit=4)
    expect("ValidationException", "Invalid Backup ARN", lambda: listed(ExclusiveStartBackupArn="a" * 40))


def test_a_table_that_is_on_its_way_has_no_backups_yet() -> None:
    engine = Engine(settings=DatabaseSettings(table_delay_micros=2_000_000))
    create(engine)
    text = "Backups are being enabled for the table: table. Please retry later"
    expect("ContinuousBackupsUnavailableException", text, lambda: back_up(engine))
    expect("ContinuousBackupsUnavailableException", text, lambda: recovery(engine))
    state = engine.call("DescribeContinuousBackups", TableName="table")["ContinuousBackupsDescription"]
    assert state["ContinuousBackupsStatus"] == "DISABLED"
    engine.clock.advance(2)
    restore(engine, back_up(engine))
    engine.run_jobs()
    assert engine.call("DescribeTable", TableName="restored")["Table"]["TableStatus"] == "CREATING"
    engine.clock.advance(2)
    assert restored(engine) == {}
    engine.call("DeleteTable", TableName="table")
    expect("TableInUseException", "Table is being deleted: table", lambda: back_up(engine))


def test_a_restored_table_s_indexes_are_complete_also_when_they_are_written_late() -> None:
    engine = Engine(settings=DatabaseSettings(index_delay_micros=1_000_000))
    create(engine)
    for number in range(700):
        put(engine, str(number))
    restore(engine, back_up(engine))
    engine.run_jobs()
    engine.clock.advance(1)
    assert len(restored(engine)) == 700


def test_the_errors_of_backups(engine: Engine) -> None:
    expect("TableNotFoundException", "Table not found: nothing", lambda: back_up(engine, "nothing"))
    expect(
        "TableNotFoundException",
        "Table not found: nothing",
        lambda: engine.call("DescribeContinuousBackups", TableName="nothing"),
    )
    table_arn = engine.call("DescribeTable", TableName="table")["Table"]["TableArn"]
    expect("ValidationException", "Invalid Backup ARN", lambda: engine.call("DescribeBackup", BackupArn=table_arn))
    arn = f"{table_arn}/backup/01800000000000-01234567"
    expect("BackupNotFoundException", f"Backup not found: {arn}", lambda: restore(engine, arn))
