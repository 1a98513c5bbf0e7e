"""Imports make tables of files, and say what was wrong with those that are no good."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard

from harness import Engine, expect
from hashrange.jobs import load_items
from hashrange.jobs.job import IoStep
from hashrange.storage import write_and_wait
from hashrange.storage.memory import MemoryStore
from hashrange.transfer import batch, lines
from unit.transfer.support import BUCKET, engine_with, imported, line, scan, start_import, write

INDEX = {
    "IndexName": "by-owner",
    "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}
WITH_INDEX = {
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "owner")],
    "GlobalSecondaryIndexes": [INDEX],
}
VALIDATION = (
    "FAILED",
    "ItemValidationError",
    "Some of the items failed validation checks and were not imported. "
    "Please check CloudWatch error logs for more details.",
)


def status(description: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(description.get(name) for name in ("ImportStatus", "FailureCode", "FailureMessage"))


def counts(description: dict[str, Any]) -> tuple[int, int, int]:
    return tuple(description[name] for name in ("ProcessedItemCount", "ImportedItemCount", "ErrorCount"))  # type: ignore[return-value]


def keys(engine: Engine, table: str = "copy") -> list[str]:
    return sorted(item["pk"]["S"] for item in scan(engine, table))


def test_a_table_is_made_of_files_with_its_indexes(engine: Engine, buckets: Path) -> None:
    write(buckets, "in/1.json", line("a", owner={"S": "me"}) + line("b", n={"N": "1.0"}))
    write(buckets, "in/deeper/2.json", line("c", owner={"S": "me"}))
    write(buckets, "elsewhere.json", "nonsense")
    started = start_import(engine, parameters=WITH_INDEX, S3BucketSource={"S3Bucket": BUCKET, "S3KeyPrefix": "in/"})
    assert started["ImportStatus"] == "IN_PROGRESS"
    assert started["TableArn"].endswith(":table/copy")
    engine.run_jobs()
    done = engine.call("DescribeImport", ImportArn=started["ImportArn"])["ImportTableDescription"]
    assert status(done) == ("COMPLETED", None, None)
    assert counts(done) == (3, 3, 0)
    assert done["ProcessedSizeBytes"] == sum(
        len((buckets / BUCKET / key).read_bytes()) for key in ("in/1.json", "in/deeper/2.json")
    )
    table = engine.call("DescribeTable", TableName="copy")["Table"]
    assert (table["TableStatus"], table["TableId"], table["ItemCount"]) == ("ACTIVE", started["TableId"], 3)
    found = engine.call(
        "Query",
        TableName="copy",
        IndexName="by-owner",
        KeyConditionExpression="#o = :o",
        ExpressionAttributeNames={"#o": "owner"},
        ExpressionAttributeValues={":o": {"S": "me"}},
    )
    assert found["Count"] == 2
    assert {"pk": {"S": "b"}, "sk": {"S": "1"}, "n": {"N": "1"}} in scan(engine, "copy")
    assert engine.problems() == []


def test_the_table_is_creating_while_it_is_filled(
    engine: Engine, buckets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "ITEMS_MAX", 2)
    write(buckets, "1.json", "".join(line(str(number)) for number in range(6)))
    started = start_import(engine)
    expect(
        "ResourceNotFoundException",
        "Requested resource not found: Table: copy not found",
        lambda: engine.call("DescribeTable", TableName="copy"),
    )
    expect("ResourceInUseException", "Table already exists: copy", lambda: start_import(engine))
    for _ in range(3):
        run_one_step(engine)
    assert engine.call("DescribeTable", TableName="copy")["Table"]["TableStatus"] == "CREATING"
    expect("ResourceNotFoundException", "Requested resource not found", lambda: engine.call("Scan", TableName="copy"))
    described = engine.call("DescribeImport", ImportArn=started["ImportArn"])["ImportTableDescription"]
    assert described["ImportStatus"] == "IN_PROGRESS"
    assert counts(described) == (4, 4, 0)
    engine.run_jobs()
    assert keys(engine) == [str(number) for number in range(6)]


def run_one_step(engine: Engine) -> None:
    step = load_items.next_step(engine.db)
    assert step is not None
    write_and_wait(engine.store, step.run() if isinstance(step, IoStep) else step)


@pytest.mark.parametrize("compression", ["NONE", "GZIP", "ZSTD"])
def test_an_import_goes_on_after_a_crash(buckets: Path, monkeypatch: pytest.MonkeyPatch, compression: str) -> None:
    monkeypatch.setattr(batch, "ITEMS_MAX", 7)
    pack = {"NONE": bytes, "GZIP": gzip.compress, "ZSTD": zstandard.ZstdCompressor().compress}[compression]
    for file in range(3):
        content = "".join(line(f"{file}-{number}") for number in range(20)) + "bad\n"
        write(buckets, f"{file}.json", pack(content.encode()))
    store = MemoryStore()
    engine = engine_with(buckets, store)
    started = start_import(engine, InputCompressionType=compression)
    for _ in range(30):
        step = load_items.next_step(engine.db)
        if step is None:
            break
        if isinstance(step, IoStep):
            step.run()  # read, but not written: the process dies
        engine = engine_with(buckets, store)
        run_one_step(engine)
        engine = engine_with(buckets, store)
    done = engine.call("DescribeImport", ImportArn=started["ImportArn"])["ImportTableDescription"]
    assert status(done) == VALIDATION
    assert counts(done) == (63, 60, 3)
    assert len(keys(engine)) == 60
    assert engine.problems() == []


BAD_LINES = {
    "not JSON": b"nonsense\n",
    "no item": b'{"item":{}}\n',
    "an item that is a list": b'{"Item":[]}\n',
    "a list": b"[1]\n",
    "no sort key": b'{"Item":{"pk":{"S":"x"}}}\n',
    "a key of the wrong type": b'{"Item":{"pk":{"N":"1"},"sk":{"S":"1"}}}\n',
    "an empty key": b'{"Item":{"pk":{"S":""},"sk":{"S":"1"}}}\n',
    "a number that is none": b'{"Item":{"pk":{"S":"x"},"sk":{"S":"1"},"n":{"N":"x"}}}\n',
    "a number as JSON": b'{"Item":{"pk":{"S":"x"},"sk":{"S":"1"},"n":{"N":1}}}\n',
    "a value that is no object": b'{"Item":{"pk":{"S":"x"},"sk":{"S":"1"},"n":1}}\n',
    "bytes that are not UTF-8": b'{"Item":{"pk":{"S":"\xff"},"sk":{"S":"1"}}}\n',
    "bad base64": b'{"Item":{"pk":{"S":"x"},"sk":{"S":"1"},"b":{"B":"?"}}}\n',
    "an item that is too large": b'{"Item":{"pk":{"S":"x"},"sk":{"S":"1"},"b":{"S":"%b"}}}\n' % (b"x" * 410_000),
    "a value that is too deep": b'{"Item":{"pk":{"S":"x"},"sk":{"S":"1"},"b":%b{"S":""}%b}}\n'
    % (b'{"L":[' * 40, b"]}" * 40),
    "a value that is far too deep": b'{"Item":{"pk":{"S":"x"},"sk":{"S":"1"},"b":%b{"S":""}%b}}\n'
    % (b'{"L":[' * 500, b"]}" * 500),
    "JSON that is far too deep": b"[" * 5000 + b"\n",
    "an index key of the wrong type": b'{"Item":{"pk":{"S":"x"},"sk":{"S":"1"},"owner":{"N":"1"}}}\n',
}


@pytest.mark.parametrize("bad", BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_an_error_and_the_others_are_kept(engine: Engine, buckets: Path, bad: bytes) -> None:
    write(buckets, "1.json", line("a").encode() + bad + b"\n  \n" + line("b").encode())
    done = imported(engine, parameters=WITH_INDEX)
    assert status(done) == VALIDATION
    assert counts(done) == (3, 2, 1)
    assert keys(engine) == ["a", "b"]
    assert engine.call("DescribeTable", TableName="copy")["Table"]["TableStatus"] == "ACTIVE"


GOOD_LINES = "".join(line(str(number), v={"S": "x" * 100}) for number in range(2000)).encode()
BROKEN = {
    "gzip that is not": ("GZIP", b"nonsense"),
    "gzip that ends too early": ("GZIP", gzip.compress(GOOD_LINES)[:-100]),
    "gzip with a wrong checksum": ("GZIP", gzip.compress(GOOD_LINES)[:-8] + bytes(8)),
    "Zstandard that is not": ("ZSTD", b"nonsense"),
    "Zstandard that ends too early": ("ZSTD", zstandard.ZstdCompressor().compress(GOOD_LINES)[:-100]),
    "a long line": ("NONE", b"x" * 1_000_000),
    "a decompression bomb": ("GZIP", gzip.compress(bytes(20_000_000))),
    "a bomb of blank lines": ("ZSTD", zstandard.ZstdCompressor().compress(b"\n" * 20_000_000)),
}


@pytest.mark.parametrize(("compression", "content"), BROKEN.values(), ids=BROKEN)
def test_the_rest_of_a_broken_object_is_left_out(
    engine: Engine, buckets: Path, monkeypatch: pytest.MonkeyPatch, compression: str, content: bytes
) -> None:
    monkeypatch.setattr(lines, "LINE_BYTES_MAX", 500_000)
    pack = {"NONE": bytes, "GZIP": gzip.compress, "ZSTD": zstandard.ZstdCompressor().compress}[compression]
    write(buckets, "1", content)
    write(buckets, "2", pack(line("whole").encode()))
    done = imported(engine, InputCompressionType=compression)
    assert status(done) == VALIDATION
    assert done["ErrorCount"] == 1
    assert "whole" in keys(engine)


def test_an_object_full_of_errors_is_not_read_to_its_end(
    engine: Engine, buckets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hashrange.transfer.source.ERRORS_PER_OBJECT_MAX", 50)
    write(buckets, "1", "x\n" * 1000)
    done = imported(engine)
    assert counts(done) == (51, 0, 51)


def test_an_input_that_we_were_wrong_about_holds_up_no_other(
    engine: Engine, buckets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_batch(*arguments: Any, **options: Any) -> Any:
        monkeypatch.undo()
        raise RuntimeError

    monkeypatch.setattr(load_items, "read_batch", read_batch)
    write(buckets, "1", line("a"))
    started = [start_import(engine, name) for name in ("one", "other")]
    engine.run_jobs()
    done = [engine.call("DescribeImport", ImportArn=each["ImportArn"])["ImportTableDescription"] for each in started]
    assert {status(each) for each in done} == {
        ("COMPLETED", None, None),
        ("FAILED", "InternalError", "The input cannot be read: RuntimeError"),
    }


def test_of_two_items_with_one_key_one_is_kept(engine: Engine, buckets: Path) -> None:
    write(buckets, "1", line("a", owner={"S": "x"}) * 3 + line("a", owner={"S": "y"}) + line("b"))
    done = imported(engine, parameters=WITH_INDEX)
    assert status(done) == ("COMPLETED", None, None)
    assert counts(done) == (5, 5, 0)
    assert keys(engine) == ["a", "b"]


def test_an_empty_prefix_makes_an_empty_table(engine: Engine) -> None:
    assert status(imported(engine)) == ("COMPLETED", None, None)
    assert scan(engine, "copy") == []


def test_a_missing_bucket_makes_no_table(engine: Engine) -> None:
    done = imported(engine, S3BucketSource={"S3Bucket": "no-such-bucket"})
    assert status(done)[:2] == ("FAILED", "S3NoSuchBucket")
    expect(
        "ResourceNotFoundException",
        "Requested resource not found: Table: copy not found",
        lambda: engine.call("DescribeTable", TableName="copy"),
    )
    start_import(engine)


def test_zstandard_without_its_library_says_what_to_install(
    engine: Engine, buckets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    write(buckets, "1", b"")
    done = imported(engine, InputCompressionType="ZSTD")
    assert status(done)[:2] == ("FAILED", "UnsupportedCompression")
    assert "pip install 'hashrange[zstd]'" in done["FailureMessage"]


def test_a_table_that_came_first_is_not_touched(engine: Engine, buckets: Path) -> None:
    write(buckets, "1", line("a"))
    started = start_import(engine)
    engine.create_table("copy")
    engine.run_jobs()
    done = engine.call("DescribeImport", ImportArn=started["ImportArn"])["ImportTableDescription"]
    assert status(done) == ("FAILED", "ResourceInUse", "Table already exists: copy")
    assert scan(engine, "copy") == []
    assert engine.call("DescribeTable", TableName="copy")["Table"]["TableStatus"] == "ACTIVE"


def csv_keys(kind: str = "N") -> dict[str, Any]:
    return {
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": kind}],
    }


def test_rows_of_csv_become_items_with_typed_keys(engine: Engine, buckets: Path) -> None:
    write(buckets, "1.csv", 'id,name,note\r\n1,"Ada, Countess","two\n\nlines ""quoted"""\r\n\r\n2,Bob\r\n03,é,\n')
    done = imported(engine, InputFormat="CSV", parameters=csv_keys())
    assert counts(done) == (3, 3, 0)
    found = {item["id"]["N"]: item for item in scan(engine, "copy")}
    assert found == {
        "1": {"id": {"N": "1"}, "name": {"S": "Ada, Countess"}, "note": {"S": 'two\n\nlines "quoted"'}},
        "2": {"id": {"N": "2"}, "name": {"S": "Bob"}},
        "3": {"id": {"N": "3"}, "name": {"S": "é"}, "note": {"S": ""}},
    }


def test_a_header_can_be_given_with_the_request(engine: Engine, buckets: Path) -> None:
    write(buckets, "1.csv", "a;b\nc;d\n")
    options = {"Csv": {"Delimiter": ";", "HeaderList": ["id", "x"]}}
    imported(engine, InputFormat="CSV", InputFormatOptions=options, parameters=csv_keys("S"))
    assert sorted(item["id"]["S"] for item in scan(engine, "copy")) == ["a", "c"]


@pytest.mark.parametrize(
    "content",
    [
        b"id,x\n1,a,b\n2,a\n",
        b"id,x\nz,a\n2,a\n",
        b"id,x\n1,\xff\n2,a\n",
        b'id,x\n2,a\n1,"open\n',
        b'id,x\n2,a\n1,"a"b\n',
    ],
    ids=["too many cells", "a bad number", "not UTF-8", "an open quote", "text after a quote"],
)
def test_a_bad_row_is_an_error_and_the_others_are_kept(engine: Engine, buckets: Path, content: bytes) -> None:
    write(buckets, "1.csv", content)
    done = imported(engine, InputFormat="CSV", parameters=csv_keys())
    assert status(done) == VALIDATION
    assert done["ErrorCount"] == 1
    assert [item["id"]["N"] for item in scan(engine, "copy")] == ["2"]


def test_a_header_that_is_not_utf_8_ends_its_object(engine: Engine, buckets: Path) -> None:
    write(buckets, "1.csv", b"id,\xff\n1,a\n")
    write(buckets, "2.csv", b"id,x\n2,a\n")
    done = imported(engine, InputFormat="CSV", parameters=csv_keys())
    assert (status(done), done["ErrorCount"]) == (VALIDATION, 1)
    assert [item["id"]["N"] for item in scan(engine, "copy")] == ["2"]


def test_a_row_that_does_not_end_is_not_read_on(engine: Engine, buckets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hashrange.transfer.input_formats.LINE_BYTES_MAX", 1000)
    write(buckets, "1.csv", b'id,x\n1,"' + b'\n","' * 1000)
    write(buckets, "2.csv", b"id,x\n" + b"2,a\n" * 1000)
    done = imported(engine, InputFormat="CSV", parameters=csv_keys())
    assert (status(done), done["ErrorCount"]) == (VALIDATION, 1)
    assert done["ProcessedItemCount"] == 1001
    assert [item["id"]["N"] for item in scan(engine, "copy")] == ["2"]


def test_a_client_token_names_one_import(engine: Engine) -> None:
    first = start_import(engine, ClientToken="token")
    engine.run_jobs()
    again = start_import(engine, ClientToken="token")
    assert again["ImportArn"] == first["ImportArn"]
    assert again["ImportStatus"] == "COMPLETED"
    expect(
        "ImportConflictException",
        "Import conflict: Duplicate request detected with conflicting parameters",
        lambda: start_import(engine, "another", ClientToken="token"),
    )


def test_imports_are_listed_in_pages_that_clients_can_turn(engine: Engine) -> None:
    made = []
    for number in range(3):
        engine.clock.advance(1)
        made.append(start_import(engine, f"copy-{number}")["ImportArn"])
    page = engine.call("ListImports", PageSize=2)
    assert [each["ImportArn"] for each in page["ImportSummaryList"]] == made[:0:-1]
    assert len(page["NextToken"]) >= 112
    rest = engine.call("ListImports", PageSize=2, NextToken=page["NextToken"])
    assert [each["ImportArn"] for each in rest["ImportSummaryList"]] == made[:1]
    assert "NextToken" not in rest


def test_an_unknown_import_is_not_found(engine: Engine) -> None:
    unknown = "arn:aws:dynamodb:us-east-1:000000000000:table/copy/import/01234567890123-01234567"
    expect(
        "ImportNotFoundException",
        f"Import not found: {unknown}",
        lambda: engine.call("DescribeImport", ImportArn=unknown),
    )
    expect(
        "ValidationException", "Invalid Import ARN", lambda: engine.call("DescribeImport", ImportArn="arn:" + "x" * 40)
    )
