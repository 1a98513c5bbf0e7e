"""A function sees every change at least once, in order, in batches as its trigger says, whatever happens meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from hashrange.clock import ManualClock
from hashrange.storage.memory import MemoryStore

HOUR = 3600
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def failing(*sort_keys: str) -> Any:
    """A function that fails whenever one of these items is in its batch."""

    def behave(event: dict[str, Any]) -> None:
        found = {record["dynamodb"]["Keys"]["sk"]["S"] for record in event["Records"]}
        assert not found & set(sort_keys)

    return behave


def test_a_function_is_called_with_lambdas_event(engine: Any, consumer: Any) -> None:
    uuid = engine.trigger(consumer.url)
    assert engine.result(uuid) == "No records processed"
    engine.put("1", v={"N": "1"})
    assert engine.deliver() == 1
    (record,) = consumer.events[0]["Records"]
    item = {"pk": {"S": "a"}, "sk": {"S": "1"}, "v": {"N": "1"}}
    assert record == {
        "eventID": record["eventID"],
        "eventName": "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            "ApproximateCreationDateTime": int(engine.clock.seconds()),
            "Keys": {"pk": {"S": "a"}, "sk": {"S": "1"}},
            "NewImage": item,
            "SequenceNumber": record["dynamodb"]["SequenceNumber"],
            "SizeBytes": 6 + 9,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
        "eventSourceARN": engine.stream_arn,
    }
    assert engine.result(uuid) == "OK"
    assert engine.deliver() == 0


def test_a_deletion_by_time_to_live_names_the_service_in_lower_case(engine: Any, consumer: Any) -> None:
    engine.call(
        "UpdateTimeToLive",
        TableName="table",
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"},
    )
    engine.trigger(consumer.url)
    engine.put("1", until={"N": str(int(engine.clock.seconds()) + 10)})
    engine.clock.advance(20)
    engine.run_jobs()
    engine.deliver()
    removal = consumer.events[-1]["Records"][-1]
    assert removal["eventName"] == "REMOVE"
    assert removal["userIdentity"] == {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


def test_batches_have_at_most_the_batch_size(engine: Any, consumer: Any) -> None:
    engine.put(*"123456")
    engine.trigger(consumer.url, BatchSize=4)
    engine.put("7")
    engine.deliver()
    assert consumer.batches == [["1", "2", "3", "4"], ["5", "6", "7"]]


def test_latest_leaves_out_what_was_before(engine: Any, consumer: Any) -> None:
    engine.put("1")
    engine.trigger(consumer.url, StartingPosition="LATEST")
    engine.put("2")
    engine.deliver()
    assert consumer.batches == [["2"]]


def test_a_batch_waits_for_company_until_its_window_ends(engine: Any, consumer: Any) -> None:
    engine.trigger(consumer.url, MaximumBatchingWindowInSeconds=30, BatchSize=3)
    engine.put("1")
    engine.clock.advance(29)
    engine.put("2")
    assert engine.deliver() == 0
    engine.clock.advance(1)
    engine.deliver()
    engine.put("3", "4", "5")
    engine.deliver()
    assert consumer.batches == [["1", "2"], ["3", "4", "5"]]


def test_a_failing_batch_is_tried_again_alone_and_later_each_time(engine: Any, consumer: Any) -> None:
    uuid = engine.trigger(consumer.url, BatchSize=2)
    consumer.behaviour = failing("1")
    engine.put("1")
    engine.deliver()
    engine.put("2", "3")
    assert engine.result(uuid) == "PROBLEM: Function call failed"
    for seconds in (1, 2, 4, 8, 16, 32, 60, 60):
        engine.clock.advance(seconds - 0.5)
        assert engine.deliver() == 0
        engine.clock.advance(0.5)
        assert engine.deliver() == 1
    assert set(map(tuple, consumer.batches)) == {("1",)}
    consumer.behaviour = failing()
    engine.clock.advance(60)
    engine.deliver()
    assert consumer.batches[-2:] == [["1"], ["2", "3"]]
    assert engine.result(uuid) == "OK"


def test_after_its_retries_a_batch_is_given_up(engine: Any, consumer: Any) -> None:
    uuid = engine.trigger(consumer.url, BatchSize=2, MaximumRetryAttempts=2)
    consumer.behaviour = failing("1")
    engine.put("1", "2", "3")
    for _ in range(4):
        engine.deliver()
        engine.clock.advance(60)
    assert consumer.batches == [["1", "2"]] * 3 + [["3"]]
    assert engine.result(uuid) == "OK"


def test_records_over_the_age_are_given_up_one_by_one(engine: Any, consumer: Any) -> None:
    engine.trigger(consumer.url, MaximumRecordAgeInSeconds=60)
    consumer.behaviour = failing("1", "2")
    engine.put("1")
    engine.clock.advance(45)
    engine.put("2")
    engine.deliver()
    engine.clock.advance(20)
    consumer.behaviour = failing()
    engine.deliver()
    assert consumer.batches == [["1", "2"], ["2"]]


def test_halving_isolates_the_bad_record_and_costs_no_retry(engine: Any, consumer: Any) -> None:
    engine.trigger(consumer.url, BisectBatchOnFunctionError=True, MaximumRetryAttempts=0)
    consumer.behaviour = failing("6")
    engine.put(*"12345678")
    engine.deliver()
    assert consumer.batches == [
        list("12345678"),
        list("1234"),
        list("5678"),
        list("56"),
        ["5"],
        ["6"],
        list("78"),
    ]


@pytest.mark.parametrize(
    ("answer", "tried_again"),
    [
        (None, []),
        (b"", []),
        ({}, []),
        ({"batchItemFailures": None}, []),
        ({"batchItemFailures": []}, []),
        ({"batchItemFailures": [{"itemIdentifier": 2}, {"itemIdentifier": 1}]}, ["2", "3"]),
        ({"batchItemFailures": [{"itemIdentifier": 0}]}, ["1", "2", "3"]),
        (b"{", ["1", "2", "3"]),
        ({"batchItemFailures": "all"}, ["1", "2", "3"]),
        ({"batchItemFailures": [{"itemIdentifier": ""}]}, ["1", "2", "3"]),
        ({"batchItemFailures": [{"itemIdentifier": None}]}, ["1", "2", "3"]),
        ({"batchItemFailures": [{"itemIdentifier": "999"}]}, ["1", "2", "3"]),
        ({"batchItemFailures": [{"itemIdentifier": ["x"]}]}, ["1", "2", "3"]),
        ({"batchItemFailures": [{}]}, ["1", "2", "3"]),
        ({"batchItemFailures": [None]}, ["1", "2", "3"]),
    ],
)
def test_what_a_function_reports_as_failed_is_tried_again(
    engine: Any, consumer: Any, answer: Any, tried_again: list[str]
) -> None:
    def behave(event: dict[str, Any]) -> Any:
        if len(consumer.events) > 1 or not isinstance(answer, dict):
            return answer if len(consumer.events) == 1 else None
        failures = answer.get("batchItemFailures")
        if not isinstance(failures, list):
            return answer
        numbers = [record["dynamodb"]["SequenceNumber"] for record in event["Records"]]
        return {
            "batchItemFailures": [
                {"itemIdentifier": numbers[each["itemIdentifier"]]}
                if each and isinstance(each.get("itemIdentifier"), int)
                else each
                for each in failures
            ]
        }

    consumer.behaviour = behave
    engine.trigger(consumer.url, FunctionResponseTypes=["ReportBatchItemFailures"])
    engine.put("1", "2", "3")
    engine.deliver()
    engine.clock.advance(1)
    engine.deliver()
    assert consumer.batches[1:] == ([tried_again] if tried_again else [])


def test_without_the_setting_a_report_means_nothing(engine: Any, consumer: Any) -> None:
    consumer.behaviour = lambda event: {"batchItemFailures": [{"itemIdentifier": ""}]}
    uuid = engine.trigger(consumer.url)
    engine.put("1")
    engine.deliver()
    assert engine.result(uuid) == "OK"


def test_a_record_reported_as_failed_has_as_many_attempts_as_any_other(engine: Any, consumer: Any) -> None:
    def behave(event: dict[str, Any]) -> Any:
        bad = [r["dynamodb"] for r in event["Records"] if r["dynamodb"]["Keys"]["sk"]["S"] == "2"]
        return {"batchItemFailures": [{"itemIdentifier": each["SequenceNumber"]} for each in bad]}

    consumer.behaviour = behave
    engine.trigger(consumer.url, FunctionResponseTypes=["ReportBatchItemFailures"], MaximumRetryAttempts=1)
    engine.put("1", "2")
    for _ in range(5):
        engine.deliver()
        engine.clock.advance(60)
    assert consumer.batches == [["1", "2"], ["2"]]


def test_an_endpoint_that_is_away_costs_no_retry(engine: Any, consumer: Any) -> None:
    consumer.close()
    uuid = engine.trigger(consumer.url, MaximumRetryAttempts=0)
    engine.put("1")
    for _ in range(5):
        assert engine.deliver() == 1
        engine.clock.advance(60)
    assert engine.result(uuid) == "PROBLEM: Function call failed"


def test_parents_come_before_children_and_batches_do_not_span_them(engine: Any, consumer: Any) -> None:
    engine.trigger(consumer.url)
    engine.put("1", "2")
    engine.clock.advance(5 * HOUR)
    engine.put("3")
    engine.deliver()
    assert consumer.batches == [["1", "2"], ["3"]]


def test_what_the_stream_has_forgotten_is_not_delivered(engine: Any, consumer: Any) -> None:
    engine.trigger(consumer.url)
    consumer.behaviour = failing("1")
    engine.put("1")
    engine.deliver()
    engine.clock.advance(25 * HOUR)
    engine.put("2")
    engine.deliver()
    assert consumer.batches == [["1"], ["2"]]


def test_a_disabled_stream_is_read_to_its_end(engine: Any, consumer: Any) -> None:
    engine.trigger(consumer.url)
    engine.put("1")
    engine.call("UpdateTable", TableName="table", StreamSpecification={"StreamEnabled": False})
    engine.clock.advance(1)
    engine.call("UpdateTable", TableName="table", StreamSpecification=STREAM)
    engine.put("2")
    engine.deliver()
    assert consumer.batches == [["1"]]


@pytest.mark.parametrize("lanes", [1, 3, 10])
def test_with_several_lanes_the_changes_of_an_item_stay_in_order(watched: Any, consumer: Any, lanes: int) -> None:
    engine = watched(stream_shards=2)
    engine.create_table(StreamSpecification=STREAM)
    uuid = engine.trigger(consumer.url, ParallelizationFactor=lanes, BatchSize=7)
    for version in range(5):
        for partition in range(12):
            engine.put("s", pk=str(partition), v={"N": str(version)})
        engine.deliver()
        if version == 2:
            engine.mapping("Update", UUID=uuid, ParallelizationFactor=lanes % 10 + 1)
    seen: dict[str, list[int]] = {}
    for event in consumer.events:
        for record in event["Records"]:
            image = record["dynamodb"]["NewImage"]
            seen.setdefault(image["pk"]["S"], []).append(int(image["v"]["N"]))
    assert seen == {str(partition): [0, 1, 2, 3, 4] for partition in range(12)}


def test_a_disabled_trigger_rests_and_then_goes_on_where_it_was(engine: Any, consumer: Any) -> None:
    uuid = engine.trigger(consumer.url, BatchSize=1)
    engine.put("1")
    engine.deliver()
    assert engine.mapping("Update", UUID=uuid, Enabled=False)["State"] == "Disabling"
    assert engine.mapping("Get", UUID=uuid)["State"] == "Disabled"
    engine.put("2")
    assert engine.deliver() == 0
    engine.mapping("Update", UUID=uuid, Enabled=True)
    engine.deliver()
    assert consumer.batches == [["1"], ["2"]]


def test_a_new_server_goes_on_where_the_old_one_was(watched: Any, consumer: Any) -> None:
    store = MemoryStore()
    first = watched(store)
    first.create_table(StreamSpecification=STREAM)
    first.trigger(consumer.url, BatchSize=1, MaximumRetryAttempts=1)
    consumer.behaviour = failing("2")
    first.put("1", "2", "3")
    first.deliver()
    assert consumer.batches == [["1"], ["2"]]
    second = watched(store)
    second.clock = second.db.clock
    assert isinstance(second.clock, ManualClock)
    second.clock.advance(1)
    second.deliver()
    assert consumer.batches == [["1"], ["2"], ["2"], ["3"]]


def test_a_trigger_deleted_during_a_call_leaves_nothing(engine: Any, consumer: Any) -> None:
    uuid = engine.trigger(consumer.url)
    consumer.behaviour = lambda event: engine.mapping("Delete", UUID=uuid) and None
    engine.put("1")
    engine.deliver()
    with engine.store.read() as snapshot:
        assert list(snapshot.scan(b"C", b"D")) == []
        assert list(snapshot.scan(b"T", b"U")) == []


def test_unwanted_changes_are_passed_over_for_good(engine: Any, consumer: Any) -> None:
    pattern = '{"dynamodb": {"Keys": {"sk": {"S": ["x"]}}}}'
    engine.trigger(consumer.url, FilterCriteria={"Filters": [{"Pattern": pattern}]})
    engine.put(*map(str, range(600)))
    assert engine.deliver() == 1  # only the position was kept
    assert consumer.events == []
    engine.put("x")
    engine.deliver()
    assert consumer.batches == [["x"]]


def test_an_event_has_at_most_six_megabytes(engine: Any, consumer: Any) -> None:
    engine.trigger(consumer.url)
    for number in range(18):
        engine.put(str(number), v={"S": "x" * 390_000})
    engine.deliver()
    assert [len(batch) for batch in consumer.batches] == [16, 2]
