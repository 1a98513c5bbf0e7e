"""Exports hold the table as it was, in the service's own layout."""

from __future__ import annotations

import gzip
from base64 import b64encode
from hashlib import md5
from pathlib import Path
from typing import Any

import orjson
import pytest

from harness import ApiError, Engine, expect
from hashrange.engine.scope import scope_of
from hashrange.jobs import export_tables
from hashrange.jobs.job import IoStep
from hashrange.storage import write_and_wait
from hashrange.storage.memory import MemoryStore
from unit.transfer.support import (
    BUCKET,
    arn,
    data_lines,
    enable_recovery,
    engine_with,
    export,
    exported,
    put,
)

MINUTE = 60


@pytest.fixture
def table(engine: Engine) -> Engine:
    engine.create_table()
    enable_recovery(engine)
    return engine


def keys_of(lines: list[bytes]) -> list[str]:
    return sorted(orjson.loads(each)["Item"]["pk"]["S"] for each in lines)


def test_a_full_export_has_every_item_and_the_manifests_of_the_service(table: Engine, buckets: Path) -> None:
    for number in range(5):
        put(table, str(number), n={"N": "1"})
    done = exported(table, S3Prefix="some/where")
    assert done["ExportStatus"] == "COMPLETED"
    assert done["ItemCount"] == 5
    identifier = done["ExportArn"].rpartition("/")[2]
    home = buckets / BUCKET / "some/where/AWSDynamoDB" / identifier
    assert done["ExportManifest"] == f"some/where/AWSDynamoDB/{identifier}/manifest-summary.json"
    assert sorted(path.name for path in home.iterdir()) == [
        "_started",
        "data",
        "manifest-files.checksum",
        "manifest-files.json",
        "manifest-summary.checksum",
        "manifest-summary.json",
    ]
    summary = orjson.loads((home / "manifest-summary.json").read_bytes())
    assert summary["version"] == "2020-06-30"
    assert summary["itemCount"] == 5
    assert summary["tableArn"] == arn()
    assert summary["exportTime"] == "2027-01-15T08:00:00.000Z"
    for name in ("manifest-summary", "manifest-files"):
        content = (home / f"{name}.json").read_bytes()
        assert (home / f"{name}.checksum").read_text() == md5(content).hexdigest()
    [file] = [orjson.loads(each) for each in (home / "manifest-files.json").read_bytes().splitlines()]
    data = (buckets / BUCKET / file["dataFileS3Key"]).read_bytes()
    assert file["md5Checksum"] == b64encode(md5(data).digest()).decode()
    assert file["itemCount"] == 5
    assert keys_of(gzip.decompress(data).splitlines()) == ["0", "1", "2", "3", "4"]


def test_an_export_shows_a_moment_of_the_past(table: Engine, buckets: Path) -> None:
    put(table, "kept", v={"N": "1"})
    put(table, "deleted")
    moment = table.clock.seconds()
    table.clock.advance(10)
    put(table, "kept", v={"N": "2"})
    put(table, "later")
    table.call("DeleteItem", TableName="table", Key={"pk": {"S": "deleted"}, "sk": {"S": "1"}})
    assert exported(table, ExportTime=moment)["ItemCount"] == 2
    lines = data_lines(buckets)
    assert keys_of(lines) == ["deleted", "kept"]
    assert {orjson.loads(each)["Item"].get("v", {}).get("N") for each in lines} == {None, "1"}


def test_what_is_written_while_an_export_runs_is_not_in_it(
    table: Engine, buckets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_tables, "FILE_BYTES", 400)
    for number in range(60):
        put(table, f"{number:03}", v={"S": "before"})
    started = export(table)
    number = 0
    while (
        table.call("DescribeExport", ExportArn=started["ExportArn"])["ExportDescription"]["ExportStatus"] != "COMPLETED"
    ):
        run_one_step(table)
        put(table, f"new-{number}")
        put(table, f"{number % 60:03}", v={"S": "after"})
        table.call("DeleteItem", TableName="table", Key={"pk": {"S": f"{59 - number % 60:03}"}, "sk": {"S": "1"}})
        number += 1
    lines = data_lines(buckets)
    assert number > 10
    assert keys_of(lines) == [f"{each:03}" for each in range(60)]
    assert {orjson.loads(each)["Item"]["v"]["S"] for each in lines} == {"before"}


def run_one_step(engine: Engine) -> None:
    step = export_tables.next_step(engine.db)
    assert step is not None
    write_and_wait(engine.store, step.run() if isinstance(step, IoStep) else step)


def test_an_export_goes_on_after_a_crash(buckets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_tables, "FILE_BYTES", 400)
    store = MemoryStore()
    first = engine_with(buckets, store)
    first.create_table()
    enable_recovery(first)
    for number in range(40):
        put(first, f"{number:03}")
    started = export(first)
    for _ in range(4):
        run_one_step(first)
    put(first, "later")
    step = export_tables.next_step(first.db)
    assert isinstance(step, IoStep)
    step.run()  # a file is written, and then the process dies before it is noted
    second = engine_with(buckets, store)
    second.run_jobs()
    done = second.call("DescribeExport", ExportArn=started["ExportArn"])["ExportDescription"]
    assert done["ExportStatus"] == "COMPLETED"
    assert keys_of(data_lines(buckets)) == [f"{each:03}" for each in range(40)]


def test_the_export_of_an_empty_table_has_one_empty_file(table: Engine, buckets: Path) -> None:
    done = exported(table)
    assert (done["ExportStatus"], done["ItemCount"]) == ("COMPLETED", 0)
    assert data_lines(buckets) == []
    assert len(list((buckets / BUCKET).rglob("data/*.json.gz"))) == 1


def test_an_export_outlives_its_table(table: Engine, buckets: Path) -> None:
    put(table, "a")
    started = export(table)
    table.call("DeleteTable", TableName="table")
    table.run_jobs()
    done = table.call("DescribeExport", ExportArn=started["ExportArn"])["ExportDescription"]
    assert (done["ExportStatus"], done["ItemCount"]) == ("COMPLETED", 1)
    assert table.problems() == []


def test_nothing_is_left_behind_by_an_export(table: Engine) -> None:
    put(table, "a")
    exported(table)
    assert table.db.catalog.find(*_where(table)).definition.log_readers == ("recovery",)  # type: ignore[union-attr]
    with table.store.read() as snapshot:
        for kind in (b"j", b"u"):
            assert list(snapshot.scan(kind, kind + b"\xff")) == []
    table.clock.advance(91 * 24 * 3600)
    table.run_jobs()
    with table.store.read() as snapshot:
        assert list(snapshot.scan(b"o", b"p")) == []


def _where(engine: Engine) -> Any:
    with engine.store.read() as snapshot:
        return snapshot, scope_of("000000000000", "us-east-1"), "table"


def changes(buckets: Path) -> dict[str, dict[str, Any]]:
    lines = [orjson.loads(each) for each in data_lines(buckets)]
    return {each["Keys"]["pk"]["S"]: each for each in lines}


def incremental(engine: Engine, start: float, **members: Any) -> Any:
    return exported(
        engine,
        ExportType="INCREMENTAL_EXPORT",
        IncrementalExportSpecification={"ExportFromTime": start, **members.pop("specification", {})},
        **members,
    )


def test_an_incremental_export_has_the_net_effect_on_each_item(table: Engine, buckets: Path) -> None:
    put(table, "updated", v={"N": "1"})
    put(table, "removed")
    put(table, "untouched")
    table.clock.advance(10)
    start = table.clock.seconds()
    put(table, "updated", v={"N": "2"})
    put(table, "updated", v={"N": "3"})
    put(table, "inserted")
    put(table, "came-and-went")
    for gone in ("removed", "came-and-went"):
        table.call("DeleteItem", TableName="table", Key={"pk": {"S": gone}, "sk": {"S": "1"}})
    written = table.clock.micros()
    table.clock.advance(20 * MINUTE)
    end = table.clock.seconds()
    put(table, "too-late")
    done = incremental(table, start, specification={"ExportToTime": end})
    assert done["ExportType"] == "INCREMENTAL_EXPORT"
    assert done["ItemCount"] == 4
    found = changes(buckets)
    shown = {key: sorted(set(change) - {"Keys", "Metadata"}) for key, change in found.items()}
    assert shown == {
        "updated": ["NewImage", "OldImage"],
        "removed": ["OldImage"],
        "inserted": ["NewImage"],
        "came-and-went": [],
    }
    assert found["updated"]["OldImage"]["v"] == {"N": "1"}
    assert found["updated"]["NewImage"]["v"] == {"N": "3"}
    assert found["updated"]["Metadata"] == {"WriteTimestampMicros": {"N": str(written)}}
    identifier = done["ExportArn"].rpartition("/")[2]
    summary = orjson.loads((buckets / BUCKET / "AWSDynamoDB" / identifier / "manifest-summary.json").read_bytes())
    assert summary["version"] == "2023-08-01"
    assert summary["exportType"] == "INCREMENTAL_EXPORT"
    assert summary["outputView"] == "NEW_AND_OLD_IMAGES"
    assert list((buckets / BUCKET / "AWSDynamoDB/data").iterdir())


def test_an_incremental_export_of_new_images_shows_no_old_ones(table: Engine, buckets: Path) -> None:
    put(table, "a", v={"N": "1"})
    table.clock.advance(10)
    start = table.clock.seconds()
    put(table, "a", v={"N": "2"})
    table.clock.advance(20 * MINUTE)
    incremental(table, start, specification={"ExportViewType": "NEW_IMAGE"}, ExportFormat="ION")
    [found] = data_lines(buckets)
    assert found.startswith(b"$ion_1_0 {Record:{Metadata:{WriteTimestampMicros:")
    assert b"OldImage" not in found
    assert b'NewImage:{pk:"a",sk:"1",v:2.}' in found


def test_an_incremental_export_does_not_need_to_hold_every_key(
    table: Engine, buckets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_tables, "FILE_BYTES", 300)
    monkeypatch.setattr("hashrange.transfer.net_changes.NetChanges.__init__.__kwdefaults__", {"keys_max": 8})
    monkeypatch.setattr("hashrange.transfer.net_changes.RECORDS_PER_SNAPSHOT", 7)
    monkeypatch.setattr("hashrange.transfer.net_changes.KEYS_PER_SNAPSHOT", 2)
    start = table.clock.seconds()
    for number in range(100):
        put(table, f"{number % 50:03}", v={"N": str(number)})
    table.clock.advance(20 * MINUTE)
    assert incremental(table, start)["ItemCount"] == 50
    found = changes(buckets)
    assert {int(key): int(change["NewImage"]["v"]["N"]) for key, change in found.items()} == {
        number: number + 50 for number in range(50)
    }


def test_the_first_rule_that_is_broken_speaks(engine: Engine) -> None:
    expect("ValidationException", "Invalid table ARN: table", lambda: export(engine, TableArn="table"))
    expect("TableNotFoundException", "Table not found: table", lambda: export(engine))
    engine.create_table()
    expect(
        "PointInTimeRecoveryUnavailableException",
        "Point in time recovery is not enabled for table 'table'",
        lambda: export(engine, ExportTime=1.0),
    )
    enable_recovery(engine)
    now = engine.clock.seconds()
    for moment in (now - 100, now + 100, -1e308, 1e308):
        error = expect_code("InvalidExportTimeException", lambda moment=moment: export(engine, ExportTime=moment))
        assert "EarliestRestorableDateTime" in error
    expect_code("ValidationException", lambda: export(engine, ExportType="INCREMENTAL_EXPORT"))
    engine.clock.advance(3600)
    for length in (14 * MINUTE, 25 * 60 * MINUTE):
        expect_code(
            "ValidationException" if length < 3600 else "InvalidExportTimeException",
            lambda length=length: incremental(engine, engine.clock.seconds() - length),
        )
    expect(
        "ValidationException",
        "S3SseAlgorithm is not supported by this server",
        lambda: export(engine, S3SseAlgorithm="KMS"),
    )


def expect_code(code: str, run: Any) -> str:
    with pytest.raises(ApiError) as caught:
        run()
    assert caught.value.code == code
    return str(caught.value.message)


def test_a_missing_bucket_is_told_later(table: Engine) -> None:
    started = export(table, S3Bucket="no-such-bucket")
    assert started["ExportStatus"] == "IN_PROGRESS"
    assert set(started) == {
        "ExportArn",
        "ExportStatus",
        "StartTime",
        "TableArn",
        "TableId",
        "ExportTime",
        "S3Bucket",
        "S3SseAlgorithm",
        "ExportFormat",
    }
    table.run_jobs()
    done = table.call("DescribeExport", ExportArn=started["ExportArn"])["ExportDescription"]
    assert (done["ExportStatus"], done["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    assert "EndTime" in done
    assert "ItemCount" not in done


def test_a_client_token_names_one_export_for_eight_hours(table: Engine) -> None:
    first = export(table, ClientToken="token")
    table.run_jobs()
    again = export(table, ClientToken="token")
    assert again["ExportArn"] == first["ExportArn"]
    assert again["ExportStatus"] == "COMPLETED"
    expect(
        "ExportConflictException",
        "Export conflict: Duplicate request detected with conflicting parameters",
        lambda: export(table, ClientToken="token", S3Prefix="other"),
    )
    table.clock.advance(8 * 3600)
    assert export(table, ClientToken="token")["ExportArn"] != first["ExportArn"]


def test_exports_are_listed_in_pages(table: Engine) -> None:
    table.create_table("other")
    enable_recovery(table, "other")
    made = []
    for number in range(5):
        table.clock.advance(1)
        name = "table" if number % 2 else "other"
        made.append(export(table, TableArn=arn(name))["ExportArn"])
    found: list[str] = []
    token: dict[str, Any] = {}
    while True:
        page = table.call("ListExports", MaxResults=2, **token)
        assert len(page["ExportSummaries"]) <= 2
        found += [each["ExportArn"] for each in page["ExportSummaries"]]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert found == made[::-1]
    mine = table.call("ListExports", TableArn=arn())["ExportSummaries"]
    assert mine == [
        {"ExportArn": each, "ExportStatus": "IN_PROGRESS", "ExportType": "FULL_EXPORT"} for each in made[3:0:-2]
    ]


def test_an_unknown_export_is_not_found(engine: Engine) -> None:
    unknown = f"{arn()}/export/01234567890123-01234567"
    expect(
        "ExportNotFoundException",
        f"Export not found: {unknown}",
        lambda: engine.call("DescribeExport", ExportArn=unknown),
    )
    wrong = f"{arn()}/import/01234567890123-01234567"
    expect("ValidationException", "Invalid Export ARN", lambda: engine.call("DescribeExport", ExportArn=wrong))
