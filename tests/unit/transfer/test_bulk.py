"""Bulk operations put items into a table that exists, on conditions if they have any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from harness import Engine, expect
from hashrange.jobs import load_items
from hashrange.jobs.job import IoStep
from hashrange.storage import write_and_wait
from hashrange.transfer import batch
from unit.transfer.support import BUCKET, line, put, scan, write

STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}


@pytest.fixture
def table(engine: Engine) -> Engine:
    engine.create_table(StreamSpecification=STREAM)
    return engine


def start(engine: Engine, output: tuple[str, ...] = ("ERROR", "CONDITION_CHECK_FAILURE"), **members: Any) -> Any:
    request = {
        "TableName": "table",
        "InputS3Configuration": {"S3Bucket": BUCKET, "S3KeyPrefix": "in/", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {"S3Bucket": BUCKET, "S3KeyPrefix": "out", "OutputType": list(output)},
        **members,
    }
    return engine.call("StartBulkPutItems", **request)["BulkOperationDescription"]


def describe(engine: Engine, started: dict[str, Any]) -> Any:
    answer = engine.call("DescribeBulkOperation", BulkOperationArn=started["BulkOperationArn"])
    return answer["BulkOperationDescription"]


def finished(engine: Engine, **members: Any) -> Any:
    started = start(engine, **members)
    engine.run_jobs()
    assert engine.problems() == []
    return describe(engine, started)


def conditional(pk: str, condition: str, **members: Any) -> str:
    item = {"pk": {"S": pk}, "sk": {"S": "1"}, "v": {"N": "2"}}
    return orjson.dumps({"Item": item, "ConditionExpression": condition, **members}).decode() + "\n"


def reports(buckets: Path, kind: str) -> list[Any]:
    files = sorted((buckets / BUCKET / "out").rglob(f"{kind}/*.json"))
    return [orjson.loads(each) for file in files for each in file.read_bytes().splitlines()]


def records(engine: Engine) -> list[str]:
    arn = engine.call("DescribeTable", TableName="table")["Table"]["LatestStreamArn"]
    shard = engine.call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    iterator = engine.call("GetShardIterator", StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    found = engine.call("GetRecords", ShardIterator=iterator["ShardIterator"])["Records"]
    return [record["dynamodb"]["NewImage"].get("v", {}).get("N", "-") for record in found]


def test_items_are_put_beside_and_over_others(table: Engine, buckets: Path) -> None:
    put(table, "old", v={"N": "1"})
    put(table, "other")
    write(buckets, "in/1", line("old", v={"N": "2"}) + line("new"))
    done = finished(table)
    assert done["BulkOperationStatus"] == "COMPLETED"
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (2, 0)
    assert done["ProcessedInputBytes"] == done["TotalInputBytes"] > 0
    assert done["BulkOperationUsage"] == [{"TableName": "table", "BulkPutBytes": 2048, "Table": {"BulkPutBytes": 2048}}]
    assert sorted(item["pk"]["S"] for item in scan(table)) == ["new", "old", "other"]
    assert records(table) == ["1", "-", "2", "-"]


def test_every_version_of_an_item_comes_to_the_stream(table: Engine, buckets: Path) -> None:
    write(buckets, "in/1", "".join(line("a", v={"N": str(number)}) for number in range(4)))
    assert finished(table)["ProcessedItemCount"] == 4
    assert records(table) == ["0", "1", "2", "3"]


def test_a_false_condition_is_reported_and_is_no_error(table: Engine, buckets: Path) -> None:
    put(table, "there", v={"N": "1"})
    write(
        buckets,
        "in/1",
        conditional("there", "attribute_not_exists(pk)")
        + conditional("missing", "attribute_not_exists(pk)")
        + conditional(
            "there", "#v = :one", ExpressionAttributeNames={"#v": "v"}, ExpressionAttributeValues={":one": {"N": "1"}}
        ),
    )
    done = finished(table)
    assert done["BulkOperationStatus"] == "COMPLETED"
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (3, 0)
    [report] = reports(buckets, "condition-check-failure")
    assert report["Item"]["v"] == {"N": "2"}
    assert report["ExistingItem"]["v"] == {"N": "1"}
    assert {item["pk"]["S"]: item["v"]["N"] for item in scan(table)} == {"there": "2", "missing": "2"}


def test_conditions_can_be_written_in_ion(table: Engine, buckets: Path) -> None:
    put(table, "there")
    write(
        buckets,
        "in/1",
        '{Item:{pk:"there",sk:"1"},ConditionExpression:"attribute_not_exists(pk)"}\n{Item:{pk:"x",sk:"1"}}',
    )
    configuration = {"S3Bucket": BUCKET, "S3KeyPrefix": "in/", "InputFormat": "ION"}
    done = finished(table, InputS3Configuration=configuration)
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (2, 0)
    assert len(reports(buckets, "condition-check-failure")) == 1


def test_bad_records_are_reported(table: Engine, buckets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "ITEMS_MAX", 2)
    bad = '{"Item":{}}\n' + conditional("a", "nonsense(") + conditional("a", "pk.x = :v")
    write(buckets, "in/1", "".join(line(str(number)) + bad for number in range(5)))
    done = finished(table)
    assert done["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (20, 15)
    assert len(reports(buckets, "error")) == 15
    assert "Missing the key pk in the item" in reports(buckets, "error")[0]["Error"]


def test_only_the_reports_that_were_asked_for_are_made(table: Engine, buckets: Path) -> None:
    write(buckets, "in/1", "bad\n" + conditional("a", "attribute_exists(pk)"))
    finished(table, output=("CONDITION_CHECK_FAILURE",))
    assert reports(buckets, "error") == []
    assert len(reports(buckets, "condition-check-failure")) == 1


def test_a_cancelled_operation_stops_and_keeps_what_it_wrote(
    table: Engine, buckets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "ITEMS_MAX", 3)
    write(buckets, "in/1", "".join(line(str(number)) for number in range(30)))
    started = start(table)
    for _ in range(3):
        step = load_items.next_step(table.db)
        assert isinstance(step, IoStep)
        write_and_wait(table.store, step.run())
    step = load_items.next_step(table.db)
    assert isinstance(step, IoStep)
    plan = step.run()
    cancelled = table.call("CancelBulkOperation", BulkOperationArn=started["BulkOperationArn"])
    assert cancelled["BulkOperationStatus"] == "CANCELLING"
    write_and_wait(table.store, plan)  # what was under way when the request came is not written any more
    table.run_jobs()
    done = describe(table, started)
    assert (done["BulkOperationStatus"], done["ProcessedItemCount"]) == ("CANCELLED", 6)
    assert "FailureMessage" in done
    assert len(scan(table)) == 6
    expect(
        "ValidationException",
        f"Bulk operation is not in progress: {started['BulkOperationArn']}",
        lambda: table.call("CancelBulkOperation", BulkOperationArn=started["BulkOperationArn"]),
    )


def test_no_more_units_are_used_than_allowed(table: Engine, buckets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "ITEMS_MAX", 100)
    write(buckets, "in/1", "".join(line(str(number)) for number in range(4000)))
    started = start(table, MaxWriteRequestUnits=1024)
    for seconds in range(1, 4):
        table.run_jobs()
        assert describe(table, started)["ProcessedItemCount"] == -(-1024 * seconds // 100) * 100
        table.clock.advance(1)
    table.clock.advance(1)
    table.run_jobs()
    assert describe(table, started)["BulkOperationStatus"] == "COMPLETED"


def test_a_table_that_is_deleted_ends_the_operation(table: Engine, buckets: Path) -> None:
    write(buckets, "in/1", line("a"))
    started = start(table)
    table.call("DeleteTable", TableName="table")
    table.create_table()
    table.run_jobs()
    assert describe(table, started)["FailureCode"] == "ResourceNotFound"
    assert scan(table) == []


def test_the_output_must_be_writable(table: Engine, buckets: Path) -> None:
    write(buckets, "in/1", line("a"))
    done = finished(table, OutputS3Configuration={"S3Bucket": "no-such-bucket", "OutputType": ["ERROR"]})
    assert (done["BulkOperationStatus"], done["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    assert scan(table) == []


def test_a_client_token_names_one_operation(table: Engine) -> None:
    first = start(table, ClientToken="token")
    assert start(table, ClientToken="token")["BulkOperationArn"] == first["BulkOperationArn"]
    expect(
        "IdempotentParameterMismatchException",
        "The client token was used with different parameters within the idempotency window",
        lambda: start(table, ClientToken="token", PerformanceTier="ACCELERATED"),
    )


def test_operations_are_listed_with_the_latest_first(table: Engine) -> None:
    made = []
    for _ in range(12):
        table.clock.advance(1)
        made.append(start(table)["BulkOperationArn"])
    page = table.call("ListBulkOperations")
    assert [each["BulkOperationArn"] for each in page["BulkOperationsSummaryList"]] == made[:1:-1]
    rest = table.call("ListBulkOperations", NextToken=page["NextToken"])
    assert [each["BulkOperationArn"] for each in rest["BulkOperationsSummaryList"]] == made[1::-1]


def test_an_unknown_table_or_operation_is_not_found(engine: Engine) -> None:
    expect(
        "ResourceNotFoundException",
        "Requested resource not found: Table: table not found",
        lambda: start(engine),
    )
    unknown = "arn:aws:dynamodb:us-east-1:000000000000:table/x/bulk-operation/01234567890123-01234567"
    expect(
        "ResourceNotFoundException",
        f"Requested resource not found: Bulk operation: {unknown} not found",
        lambda: engine.call("DescribeBulkOperation", BulkOperationArn=unknown),
    )
