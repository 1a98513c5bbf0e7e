"""A batch that is given up is described to the destination on failure, without its records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def give_up(engine: Any, consumer: Any, destination: str, **settings: Any) -> None:
    def behave(event: dict[str, Any]) -> None:
        assert "Records" not in event

    consumer.behaviour = behave
    on_failure = {"OnFailure": {"Destination": destination}}
    engine.trigger(consumer.url, DestinationConfig=on_failure, **settings)
    engine.put("1", "2")
    engine.deliver()


def test_a_directory_gets_a_file_for_each_batch(engine: Any, consumer: Any, tmp_path: Path) -> None:
    give_up(engine, consumer, str(tmp_path / "failed"), MaximumRetryAttempts=0)
    (file,) = (tmp_path / "failed").iterdir()
    described = json.loads(file.read_text(encoding="utf-8"))
    numbers = [record["dynamodb"]["SequenceNumber"] for record in consumer.events[0]["Records"]]
    shard = engine.call("DescribeStream", StreamArn=engine.stream_arn)["StreamDescription"]["Shards"][0]
    assert described == {
        "requestContext": {
            "requestId": described["requestContext"]["requestId"],
            "functionArn": consumer.url,
            "condition": "RetryAttemptsExhausted",
            "approximateInvokeCount": 1,
        },
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
        "version": "1.0",
        "timestamp": "2027-01-15T08:00:00.000Z",
        "DDBStreamBatchInfo": {
            "shardId": shard["ShardId"],
            "startSequenceNumber": numbers[0],
            "endSequenceNumber": numbers[1],
            "approximateArrivalOfFirstRecord": "2027-01-15T08:00:00Z",
            "approximateArrivalOfLastRecord": "2027-01-15T08:00:00Z",
            "batchSize": 2,
            "streamArn": engine.stream_arn,
        },
    }


def test_an_endpoint_is_posted_to(engine: Any, consumer: Any) -> None:
    give_up(engine, consumer, consumer.url, MaximumRecordAgeInSeconds=60)
    engine.clock.advance(61)
    engine.deliver()
    assert consumer.events[-1]["requestContext"]["condition"] == "RecordAgeExceeded"
    assert consumer.events[-1]["DDBStreamBatchInfo"]["batchSize"] == 2


def test_a_destination_that_cannot_be_told_holds_nothing_up(engine: Any, consumer: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    give_up(engine, consumer, str(tmp_path / "file"), MaximumRetryAttempts=0)
    consumer.behaviour = lambda event: None
    engine.put("3")
    engine.deliver()
    assert consumer.batches == [["1", "2"], ["3"]]
