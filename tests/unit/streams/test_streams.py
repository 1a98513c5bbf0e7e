"""Streams show every change once, in order, as their view says, for a day."""

from base64 import b64encode
from typing import Any

import orjson
import pytest

from harness import ApiError, Engine, expect
from hashrange.engine.database import DatabaseSettings

HOUR = 3600


def enabled(view: str) -> dict[str, Any]:
    return {"StreamEnabled": True, "StreamViewType": view}


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.create_table(StreamSpecification=enabled("NEW_AND_OLD_IMAGES"))
    return engine


def key(sk: str) -> dict[str, Any]:
    return {"pk": {"S": "a"}, "sk": {"S": sk}}


def put(engine: Engine, sk: str, value: str) -> None:
    engine.call("PutItem", TableName="table", Item={**key(sk), "v": {"S": value}})


def stream_arn(engine: Engine) -> str:
    arn: str = engine.call("DescribeTable", TableName="table")["Table"]["LatestStreamArn"]
    return arn


def shards(engine: Engine, arn: str | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = engine.call("DescribeStream", StreamArn=arn or stream_arn(engine))[
        "StreamDescription"
    ]["Shards"]
    return found


def read(engine: Engine, arn: str | None = None, **limit: int) -> list[dict[str, Any]]:
    """Everything in a stream, shard by shard, parents first."""
    arn = arn or stream_arn(engine)
    records: list[dict[str, Any]] = []
    for shard in shards(engine, arn):
        wanted = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        iterator = engine.call("GetShardIterator", **wanted)["ShardIterator"]
        while iterator:
            page = engine.call("GetRecords", ShardIterator=iterator, **limit)
            records += page["Records"]
            iterator = page.get("NextShardIterator")
            if not page["Records"]:
                break
    return records


def test_changes_are_inserts_modifications_and_removals_with_both_images(engine: Engine) -> None:
    put(engine, "1", "x")
    put(engine, "1", "y")
    engine.call("DeleteItem", TableName="table", Key=key("1"))
    records = read(engine)
    assert [record["eventName"] for record in records] == ["INSERT", "MODIFY", "REMOVE"]
    old, new = {**key("1"), "v": {"S": "x"}}, {**key("1"), "v": {"S": "y"}}
    assert records[1] == {
        "eventID": records[1]["eventID"],
        "eventName": "MODIFY",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            "ApproximateCreationDateTime": int(engine.clock.seconds()),
            "Keys": key("1"),
            "NewImage": new,
            "OldImage": old,
            "SequenceNumber": records[1]["dynamodb"]["SequenceNumber"],
            "SizeBytes": 6 + 8 + 8,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
    }
    assert "OldImage" not in records[0]["dynamodb"]
    assert "NewImage" not in records[2]["dynamodb"]
    numbers = [record["dynamodb"]["SequenceNumber"] for record in records]
    assert numbers == sorted(numbers)
    assert all(len(number) == 21 for number in numbers)


@pytest.mark.parametrize(
    ("view", "images"),
    [
        ("KEYS_ONLY", set()),
        ("NEW_IMAGE", {"NewImage"}),
        ("OLD_IMAGE", {"OldImage"}),
        ("NEW_AND_OLD_IMAGES", {"NewImage", "OldImage"}),
    ],
)
def test_a_view_shows_its_images(view: str, images: set[str]) -> None:
    engine = Engine()
    engine.create_table(StreamSpecification=enabled(view))
    put(engine, "1", "x")
    put(engine, "1", "y")
    shown = read(engine)[1]["dynamodb"]
    assert {"NewImage", "OldImage"} & set(shown) == images
    assert shown["SizeBytes"] == 6 + 8 * len(images)


def test_a_write_that_changes_nothing_leaves_no_record(engine: Engine) -> None:
    item = {**key("1"), "m": {"M": {"a": {"S": "1"}, "b": {"S": "2"}}}}
    engine.call("PutItem", TableName="table", Item=item)
    engine.call("PutItem", TableName="table", Item=item)
    reordered = {**key("1"), "m": {"M": {"b": {"S": "2"}, "a": {"S": "1"}}}}
    engine.call("PutItem", TableName="table", Item=reordered)
    engine.call("DeleteItem", TableName="table", Key=key("2"))
    assert len(read(engine)) == 1


def test_each_item_of_a_transaction_has_its_own_record(engine: Engine) -> None:
    puts = [{"Put": {"TableName": "table", "Item": key(sk)}} for sk in ("1", "2", "3")]
    engine.call("TransactWriteItems", TransactItems=puts)
    numbers = [record["dynamodb"]["SequenceNumber"] for record in read(engine)]
    assert len(set(numbers)) == 3


def test_pages_concatenate_to_the_whole(engine: Engine) -> None:
    for number in range(25):
        put(engine, str(number), "x")
    assert [r["dynamodb"]["Keys"] for r in read(engine, Limit=7)] == [key(str(number)) for number in range(25)]


def test_iterators_start_where_they_are_told(engine: Engine) -> None:
    put(engine, "1", "x")
    put(engine, "2", "x")
    number = read(engine)[0]["dynamodb"]["SequenceNumber"]
    wanted = {"StreamArn": stream_arn(engine), "ShardId": shards(engine)[0]["ShardId"]}

    def seen(kind: str, **more: str) -> list[str]:
        iterator = engine.call("GetShardIterator", ShardIteratorType=kind, **wanted, **more)["ShardIterator"]
        if kind == "LATEST":
            put(engine, "3", "x")
        records = engine.call("GetRecords", ShardIterator=iterator)["Records"]
        return [record["dynamodb"]["Keys"]["sk"]["S"] for record in records]

    assert seen("AT_SEQUENCE_NUMBER", SequenceNumber=number) == ["1", "2"]
    assert seen("AFTER_SEQUENCE_NUMBER", SequenceNumber=number) == ["2"]
    assert seen("LATEST") == ["3"]
    assert seen("TRIM_HORIZON") == ["1", "2", "3"]
    with pytest.raises(ApiError, match="ValidationException"):
        seen("AT_SEQUENCE_NUMBER")
    with pytest.raises(ApiError, match="ValidationException"):
        seen("LATEST", SequenceNumber=number)


def test_an_iterator_may_begin_at_a_time(engine: Engine) -> None:
    begun = engine.clock.seconds()
    for number in ("0", "1", "2"):
        put(engine, number, "x")
        engine.clock.advance(10)
    wanted = {"StreamArn": stream_arn(engine), "ShardId": shards(engine)[0]["ShardId"]}

    def seen(seconds: float) -> list[str]:
        place = {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": seconds}
        iterator = engine.call("GetShardIterator", **place, **wanted)["ShardIterator"]
        records = engine.call("GetRecords", ShardIterator=iterator)["Records"]
        return [record["dynamodb"]["Keys"]["sk"]["S"] for record in records]

    assert seen(begun - 1_000_000) == ["0", "1", "2"]
    assert seen(begun + 10) == ["1", "2"]
    assert seen(begun + 10.001) == ["2"]
    assert seen(begun + 30) == []
    with pytest.raises(ApiError, match="Timestamp cannot be in the future"):
        seen(begun + 31)


def test_an_iterator_expires_after_fifteen_minutes(engine: Engine) -> None:
    wanted = {"StreamArn": stream_arn(engine), "ShardId": shards(engine)[0]["ShardId"]}
    iterator = engine.call("GetShardIterator", ShardIteratorType="LATEST", **wanted)["ShardIterator"]
    engine.clock.advance(899)
    engine.call("GetRecords", ShardIterator=iterator)
    engine.clock.advance(2)
    with pytest.raises(ApiError, match="ExpiredIteratorException"):
        engine.call("GetRecords", ShardIterator=iterator)


@pytest.mark.parametrize("iterator", ["x", "a|1|b", "arn|1|W10=", "arn|2|WyJhIiwxLDFd", "|||"])
def test_a_broken_iterator_is_refused(engine: Engine, iterator: str) -> None:
    with pytest.raises(ApiError, match="ValidationException"):
        engine.call("GetRecords", ShardIterator=iterator)


def test_shards_are_followed_by_their_children(engine: Engine) -> None:
    put(engine, "1", "x")
    engine.clock.advance(5 * HOUR)
    put(engine, "1", "y")
    parent, child = shards(engine)
    assert child["ParentShardId"] == parent["ShardId"]
    assert "EndingSequenceNumber" in parent["SequenceNumberRange"]
    assert "EndingSequenceNumber" not in child["SequenceNumberRange"]
    assert [record["eventName"] for record in read(engine)] == ["INSERT", "MODIFY"]
    wanted = {"StreamArn": stream_arn(engine), "ShardFilter": {"Type": "CHILD_SHARDS", "ShardId": parent["ShardId"]}}
    children = engine.call("DescribeStream", **wanted)["StreamDescription"]["Shards"]
    assert children == [child]


def test_a_closed_shard_ends() -> None:
    engine = Engine()
    engine.create_table(StreamSpecification=enabled("KEYS_ONLY"))
    put(engine, "1", "x")
    engine.clock.advance(5 * HOUR)
    wanted = {"StreamArn": stream_arn(engine), "ShardId": shards(engine)[0]["ShardId"]}
    iterator = engine.call("GetShardIterator", ShardIteratorType="TRIM_HORIZON", **wanted)["ShardIterator"]
    page = engine.call("GetRecords", ShardIterator=iterator)
    assert len(page["Records"]) == 1
    assert "NextShardIterator" not in page


def test_a_shard_ends_as_soon_as_a_later_change_is_there(engine: Engine) -> None:
    put(engine, "1", "x")
    engine.clock.advance(4 * HOUR + 1)
    assert "EndingSequenceNumber" not in shards(engine)[0]["SequenceNumberRange"]
    put(engine, "1", "y")
    assert "EndingSequenceNumber" in shards(engine)[0]["SequenceNumberRange"]


def test_with_several_shards_an_item_stays_in_one_line() -> None:
    engine = Engine(settings=DatabaseSettings(stream_shards=4))
    engine.create_table(StreamSpecification=enabled("NEW_IMAGE"))
    for round_number in range(3):
        for partition in range(40):
            item = {"pk": {"S": str(partition)}, "sk": {"S": "s"}, "v": {"N": str(round_number)}}
            engine.call("PutItem", TableName="table", Item=item)
    assert len(shards(engine)) == 4
    records = read(engine)
    assert len(records) == 120
    for partition in range(40):
        mine = [r["dynamodb"] for r in records if r["dynamodb"]["Keys"]["pk"]["S"] == str(partition)]
        assert [change["NewImage"]["v"]["N"] for change in mine] == ["0", "1", "2"]


def test_records_are_gone_after_a_day(engine: Engine) -> None:
    put(engine, "1", "x")
    engine.clock.advance(23 * HOUR)
    put(engine, "2", "x")
    assert len(read(engine)) == 2
    engine.clock.advance(2 * HOUR)
    assert len(read(engine)) == 1
    engine.run_jobs()
    with engine.store.read() as snapshot:
        assert len(list(snapshot.scan(b"l", b"m"))) == 1


def test_the_trim_horizon_of_a_partly_trimmed_shard_can_be_read(engine: Engine) -> None:
    put(engine, "1", "old")
    engine.clock.advance(2 * HOUR)
    put(engine, "2", "newer")
    engine.clock.advance(23 * HOUR)
    wanted = {"ShardId": shards(engine)[0]["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
    iterator = engine.call("GetShardIterator", StreamArn=stream_arn(engine), **wanted)["ShardIterator"]
    engine.clock.advance(1)
    page = engine.call("GetRecords", ShardIterator=iterator)
    assert [record["dynamodb"]["Keys"] for record in page["Records"]] == [key("2")]


def test_a_position_that_no_log_has_is_a_broken_iterator(engine: Engine) -> None:
    inner = orjson.dumps([shards(engine)[0]["ShardId"], 1e30, 2**60])
    iterator = f"{stream_arn(engine)}|1|{b64encode(inner).decode()}"
    expect("ValidationException", "Invalid ShardIterator", lambda: engine.call("GetRecords", ShardIterator=iterator))


def test_a_disabled_stream_is_readable_for_a_day_and_a_new_one_has_a_new_arn(engine: Engine) -> None:
    put(engine, "1", "x")
    first = stream_arn(engine)
    engine.call("UpdateTable", TableName="table", StreamSpecification={"StreamEnabled": False})
    put(engine, "2", "x")
    table = engine.call("DescribeTable", TableName="table")["Table"]
    assert "StreamSpecification" not in table
    assert table["LatestStreamArn"] == first
    engine.clock.advance(1)
    engine.call("UpdateTable", TableName="table", StreamSpecification=enabled("KEYS_ONLY"))
    put(engine, "3", "x")
    second = stream_arn(engine)
    assert first != second
    assert [r["dynamodb"]["Keys"]["sk"]["S"] for r in read(engine, first)] == ["1"]
    assert [r["dynamodb"]["Keys"]["sk"]["S"] for r in read(engine, second)] == ["3"]
    listed = engine.call("ListStreams", TableName="table")["Streams"]
    assert [stream["StreamArn"] for stream in listed] == [first, second]
    engine.clock.advance(25 * HOUR)
    engine.run_jobs()
    assert [stream["StreamArn"] for stream in engine.call("ListStreams")["Streams"]] == [second]
    with pytest.raises(ApiError, match="ResourceNotFoundException"):
        engine.call("DescribeStream", StreamArn=first)


def test_a_deleted_table_leaves_its_stream_for_a_day(engine: Engine) -> None:
    put(engine, "1", "x")
    arn = stream_arn(engine)
    engine.call("DeleteTable", TableName="table")
    engine.run_jobs()
    assert len(read(engine, arn)) == 1
    status = engine.call("DescribeStream", StreamArn=arn)["StreamDescription"]["StreamStatus"]
    assert status == "DISABLED"
    engine.clock.advance(25 * HOUR)
    engine.run_jobs()
    with engine.store.read() as snapshot:
        assert list(snapshot.scan(b"l", b"m")) == []
        assert list(snapshot.scan(b"r", b"s")) == []


def test_sequence_numbers_grow_even_if_the_clock_goes_back(engine: Engine) -> None:
    put(engine, "1", "x")
    engine.clock.advance(-600)
    put(engine, "2", "x")
    engine.clock.advance(600)
    put(engine, "3", "x")
    assert [record["dynamodb"]["Keys"]["sk"]["S"] for record in read(engine)] == ["1", "2", "3"]


def test_stream_settings_are_checked(engine: Engine) -> None:
    invalid = "One or more parameter values were invalid: "
    update = {"TableName": "table"}
    for code, message, specification in (
        ("ValidationException", "Table already has an enabled stream: TableName: table", enabled("KEYS_ONLY")),
        (
            "ValidationException",
            invalid + "If stream is being enabled then UpdateViewType is required",
            {"StreamEnabled": True},
        ),
        (
            "ValidationException",
            invalid + "If stream is being disabled, then UpdateViewType must not be specified",
            {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"},
        ),
    ):
        expect(code, message, lambda s=specification: engine.call("UpdateTable", StreamSpecification=s, **update))
    engine.call("UpdateTable", StreamSpecification={"StreamEnabled": False}, **update)
    expect(
        "ValidationException",
        "Table has no stream to disable: TableName: table",
        lambda: engine.call("UpdateTable", StreamSpecification={"StreamEnabled": False}, **update),
    )


def test_statements_of_one_batch_leave_a_record_each(engine: Engine) -> None:
    statements = [{"Statement": f"INSERT INTO \"table\" VALUE {{'pk': 'a', 'sk': '{n}'}}"} for n in range(3)]
    engine.call("BatchExecuteStatement", Statements=statements)
    assert [record["dynamodb"]["Keys"] for record in read(engine)] == [key("0"), key("1"), key("2")]


def test_a_page_has_at_most_a_megabyte_but_at_least_a_record(engine: Engine) -> None:
    for number in range(4):
        put(engine, "1", str(number) + "x" * 390_000)  # from the second on, a record has two images
    wanted = {"StreamArn": stream_arn(engine), "ShardId": shards(engine)[0]["ShardId"]}
    iterator = engine.call("GetShardIterator", ShardIteratorType="TRIM_HORIZON", **wanted)["ShardIterator"]
    counts = []
    while len(page := engine.call("GetRecords", ShardIterator=iterator)["Records"]):
        counts.append(len(page))
        wanted["SequenceNumber"] = page[-1]["dynamodb"]["SequenceNumber"]
        iterator = engine.call("GetShardIterator", ShardIteratorType="AFTER_SEQUENCE_NUMBER", **wanted)["ShardIterator"]
    assert counts == [1, 1, 1, 1]
