"""Changes go to a Kinesis stream, all of them, with both images, whatever the endpoint does meanwhile."""

from __future__ import annotations

import threading
from base64 import b64decode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson
import pytest

from harness import ApiError, Engine, expect
from hashrange.engine.database import DatabaseSettings
from hashrange.jobs.deliveries import deliver_all
from hashrange.kinesis import client
from hashrange.storage.memory import MemoryStore
from hashrange.triggers.call import Functions

ARN = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
OTHER = "arn:aws:kinesis:us-east-1:000000000000:stream/others"
NOT_VALID = "Table is not in a valid state to enable Kinesis Streaming Destination: "
HOUR = 3600


class Kinesis:
    """An endpoint that keeps what is put, and answers as it is told."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answer: Callable[[dict[str, Any]], tuple[int, Any]] = accepted
        kinesis = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
                kinesis.requests.append(request)
                kinesis.headers.append(dict(self.headers))
                status, answer = kinesis.answer(request)
                body = orjson.dumps(answer)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def records(self) -> list[dict[str, Any]]:
        return [orjson.loads(b64decode(each["Data"])) for request in self.requests for each in request["Records"]]

    @property
    def sort_keys(self) -> list[str]:
        return [record["dynamodb"]["Keys"]["sk"]["S"] for record in self.records]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def accepted(request: dict[str, Any]) -> tuple[int, Any]:
    return 200, {"FailedRecordCount": 0, "Records": [{"SequenceNumber": "1", "ShardId": "s"}] * len(request["Records"])}


@pytest.fixture
def kinesis() -> Iterator[Kinesis]:
    kinesis = Kinesis()
    yield kinesis
    kinesis.close()


@pytest.fixture
def engine(kinesis: Kinesis) -> Iterator[Engine]:
    engine = Engine(settings=DatabaseSettings(kinesis_endpoint=kinesis.url, stream_shards=2))
    engine.create_table()
    yield engine
    assert engine.problems() == []


def enable(engine: Engine, arn: str = ARN, **configuration: str) -> Any:
    more = {"EnableKinesisStreamingConfiguration": configuration} if configuration else {}
    return engine.call("EnableKinesisStreamingDestination", TableName="table", StreamArn=arn, **more)


def disable(engine: Engine, arn: str = ARN) -> Any:
    return engine.call("DisableKinesisStreamingDestination", TableName="table", StreamArn=arn)


def update(engine: Engine, precision: str) -> Any:
    wanted = {"ApproximateCreationDateTimePrecision": precision}
    return engine.call(
        "UpdateKinesisStreamingDestination",
        TableName="table",
        StreamArn=ARN,
        UpdateKinesisStreamingConfiguration=wanted,
    )


def described(engine: Engine) -> list[dict[str, Any]]:
    answer = engine.call("DescribeKinesisStreamingDestination", TableName="table")
    assert answer["TableName"] == "table"
    found: list[dict[str, Any]] = answer["KinesisDataStreamDestinations"]
    return found


def put(engine: Engine, *sort_keys: str, **attributes: Any) -> None:
    for sk in sort_keys:
        engine.call("PutItem", TableName="table", Item={"pk": {"S": "a"}, "sk": {"S": sk}, **attributes})


def deliver(engine: Engine) -> int:
    return deliver_all(engine.db, Functions())


def test_a_record_is_as_dynamodb_puts_it(engine: Engine, kinesis: Kinesis) -> None:
    put(engine, "1", v={"N": "1"})
    assert enable(engine) == {"TableName": "table", "StreamArn": ARN, "DestinationStatus": "ENABLING"}
    assert described(engine) == [{"StreamArn": ARN, "DestinationStatus": "ACTIVE"}]
    put(engine, "1", v={"N": "2"})
    deliver(engine)
    (record,) = kinesis.records
    old, new = ({"pk": {"S": "a"}, "sk": {"S": "1"}, "v": {"N": number}} for number in "12")
    assert record == {
        "awsRegion": "us-east-1",
        "eventID": record["eventID"],
        "eventName": "MODIFY",
        "userIdentity": None,
        "recordFormat": "application/json",
        "tableName": "table",
        "dynamodb": {
            "ApproximateCreationDateTime": int(engine.clock.seconds() * 1000),
            "Keys": {"pk": {"S": "a"}, "sk": {"S": "1"}},
            "NewImage": new,
            "OldImage": old,
            "SizeBytes": 6 + 9 + 9,
        },
        "eventSource": "aws:dynamodb",
    }
    assert kinesis.requests[0]["StreamName"] == "changes"
    assert kinesis.requests[0]["StreamARN"] == ARN
    assert kinesis.headers[0]["x-amz-target"] == "Kinesis_20131202.PutRecords"
    assert kinesis.headers[0]["content-type"] == "application/x-amz-json-1.1"


def test_requests_are_signed_with_the_credentials_of_the_environment(
    engine: Engine, kinesis: Kinesis, monkeypatch: pytest.MonkeyPatch
) -> None:
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    enable(engine)
    put(engine, "1")
    deliver(engine)
    sent = {name.lower(): value for name, value in kinesis.headers[0].items()}
    assert sent["x-amz-security-token"] == "token"
    names = ("content-type", "host", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token", "x-amz-target")
    signer = SigV4Auth(Credentials("AKIDEXAMPLE", "secret", "token"), "kinesis", "us-east-1")
    request = AWSRequest(
        "POST", kinesis.url + "/", {name: sent[name] for name in names}, orjson.dumps(kinesis.requests[0])
    )
    request.context["timestamp"] = sent["x-amz-date"]
    signature = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    assert sent["authorization"].endswith(f"Signature={signature}")


def test_times_are_as_precise_as_asked(engine: Engine, kinesis: Kinesis) -> None:
    engine.clock.advance(0.123456)
    enable(engine, ApproximateCreationDateTimePrecision="MICROSECOND")
    assert described(engine)[0]["ApproximateCreationDateTimePrecision"] == "MICROSECOND"
    put(engine, "1")
    deliver(engine)
    assert kinesis.records[0]["dynamodb"]["ApproximateCreationDateTime"] == engine.clock.micros()
    assert kinesis.records[0]["dynamodb"]["ApproximateCreationDateTimePrecision"] == "MICROSECOND"
    with pytest.raises(ApiError, match="ValidationException: Invalid Request: Precision is already set"):
        update(engine, "MICROSECOND")
    assert update(engine, "MILLISECOND")["DestinationStatus"] == "UPDATING"
    put(engine, "2")
    deliver(engine)
    assert kinesis.records[1]["dynamodb"]["ApproximateCreationDateTime"] == engine.clock.micros() // 1000


def test_a_deletion_by_time_to_live_names_the_service(engine: Engine, kinesis: Kinesis) -> None:
    engine.call(
        "UpdateTimeToLive", TableName="table", TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"}
    )
    enable(engine)
    put(engine, "1", until={"N": str(int(engine.clock.seconds()) + 10)})
    engine.clock.advance(20)
    engine.run_jobs()
    deliver(engine)
    assert kinesis.records[1]["userIdentity"] == {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


def test_a_table_has_one_destination_at_a_time(engine: Engine) -> None:
    enable(engine)
    refusal = NOT_VALID + (
        "EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE operation."
    )
    for arn in (ARN, OTHER):
        expect("ValidationException", refusal, lambda arn=arn: enable(engine, arn))
    assert disable(engine)["DestinationStatus"] == "DISABLING"
    refusal = NOT_VALID + "KinesisStreamingDestination must be ACTIVE to perform {} operation."
    expect("ValidationException", refusal.format("DISABLE"), lambda: disable(engine))
    expect("ValidationException", refusal.format("DISABLE"), lambda: disable(engine, OTHER))
    expect("ValidationException", refusal.format("UPDATE"), lambda: update(engine, "MICROSECOND"))
    enable(engine, OTHER)
    assert {each["StreamArn"]: each["DestinationStatus"] for each in described(engine)} == {
        ARN: "DISABLED",
        OTHER: "ACTIVE",
    }
    engine.clock.advance(301)
    assert [each["StreamArn"] for each in described(engine)] == [OTHER]


def test_a_table_that_is_not_there_is_not_found(engine: Engine) -> None:
    for operation in ("Enable", "Disable", "Describe", "Update"):
        members = {"StreamArn": ARN} if operation != "Describe" else {}
        if operation == "Update":
            members["UpdateKinesisStreamingConfiguration"] = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}  # type: ignore[assignment]
        expect(
            "ResourceNotFoundException",
            "Requested resource not found: Table: nothing not found",
            lambda operation=operation, members=members: engine.call(
                f"{operation}KinesisStreamingDestination", TableName="nothing", **members
            ),
        )


def test_statuses_last_as_long_as_those_of_tables(kinesis: Kinesis) -> None:
    settings = DatabaseSettings(kinesis_endpoint=kinesis.url, table_delay_micros=2_000_000)
    engine = Engine(settings=settings)
    engine.create_table()
    with pytest.raises(ApiError, match="ResourceInUseException"):
        enable(engine)
    engine.clock.advance(2)
    enable(engine)
    put(engine, "1")
    assert described(engine)[0]["DestinationStatus"] == "ENABLING"
    assert deliver(engine) == 0
    engine.clock.advance(2)
    assert described(engine)[0]["DestinationStatus"] == "ACTIVE"
    deliver(engine)
    assert kinesis.sort_keys == ["1"]


@pytest.mark.parametrize(
    ("endpoint", "arn", "reason"),
    [
        ("http://127.0.0.1:9", ARN.replace(":kinesis:", ":kenesis:"), "is not the ARN of a Kinesis stream"),
        (None, ARN, "started without --kinesis-endpoint"),
    ],
)
def test_a_destination_that_cannot_be_is_accepted_and_fails_later(endpoint: str | None, arn: str, reason: str) -> None:
    engine = Engine(settings=DatabaseSettings(kinesis_endpoint=endpoint))
    engine.create_table()
    assert enable(engine, arn)["DestinationStatus"] == "ENABLING"
    (shown,) = described(engine)
    assert shown["DestinationStatus"] == "ENABLE_FAILED"
    assert reason in shown["DestinationStatusDescription"]
    put(engine, "1")
    with engine.store.read() as snapshot:
        assert list(snapshot.scan(b"l", b"m")) == []  # nobody reads, so nothing is logged


def test_a_stream_that_the_endpoint_never_knew_fails_the_destination(engine: Engine, kinesis: Kinesis) -> None:
    kinesis.answer = lambda request: (400, {"__type": "ResourceNotFoundException", "message": "Stream not found"})
    enable(engine)
    put(engine, "1")
    deliver(engine)
    assert described(engine)[0]["DestinationStatus"] == "ENABLE_FAILED"
    enable(engine)


def test_an_endpoint_that_is_away_is_tried_again(engine: Engine, kinesis: Kinesis) -> None:
    enable(engine)
    put(engine, "0")
    deliver(engine)
    kinesis.answer = lambda request: (500, {"__type": "InternalFailure"})
    put(engine, "1")
    assert deliver(engine) == 1
    for seconds in (1, 2, 4):
        engine.clock.advance(seconds - 0.5)
        assert deliver(engine) == 0
        engine.clock.advance(0.5)
        assert deliver(engine) == 1
    assert described(engine)[0]["DestinationStatus"] == "ACTIVE"
    kinesis.answer = accepted
    put(engine, "2")
    engine.clock.advance(60)
    deliver(engine)
    assert kinesis.sort_keys[-2:] == ["1", "2"]


def test_what_was_refused_within_a_request_is_put_again_with_what_follows(engine: Engine, kinesis: Kinesis) -> None:
    def answer(request: dict[str, Any]) -> tuple[int, Any]:
        if len(kinesis.requests) > 1:
            return accepted(request)
        refused = {"ErrorCode": "ProvisionedThroughputExceededException"}
        return 200, {"FailedRecordCount": 1, "Records": [{}, refused, {}]}

    kinesis.answer = answer
    enable(engine)
    put(engine, "1", "2", "3")
    deliver(engine)
    engine.clock.advance(1)
    deliver(engine)
    assert kinesis.sort_keys == ["1", "2", "3", "2", "3"]


@pytest.mark.parametrize("records", [None, [], "x", [{}], [1, "x", None], {"0": {}}])
def test_an_answer_that_does_not_tell_what_was_taken_is_none(engine: Engine, kinesis: Kinesis, records: Any) -> None:
    kinesis.answer = lambda request: (200, {"FailedRecordCount": 0, "Records": records})
    enable(engine)
    put(engine, "1", "2", "3")
    deliver(engine)
    kinesis.answer = accepted
    engine.clock.advance(1)
    deliver(engine)
    assert kinesis.sort_keys == ["1", "2", "3"] * 2


def test_a_delivery_says_nothing_about_a_destination_that_was_enabled_anew(engine: Engine, kinesis: Kinesis) -> None:
    def answer(request: dict[str, Any]) -> tuple[int, Any]:
        disable(engine)
        enable(engine)
        return 500, {}

    enable(engine)
    put(engine, "1")
    kinesis.answer = answer
    deliver(engine)
    kinesis.answer = accepted
    put(engine, "2")
    deliver(engine)
    assert kinesis.sort_keys == ["1", "2"]


def test_every_slice_is_delivered_and_a_new_server_goes_on(kinesis: Kinesis) -> None:
    store = MemoryStore()
    settings = DatabaseSettings(kinesis_endpoint=kinesis.url, stream_shards=4)
    first = Engine(store, settings=settings)
    first.create_table()
    enable(first)
    for number in range(40):
        item = {"pk": {"S": str(number)}, "sk": {"S": str(number)}}
        first.call("PutItem", TableName="table", Item=item)
    deliver(first)
    second = Engine(store, settings=settings)
    assert deliver(second) == 0
    put(second, "x")
    deliver(second)
    assert sorted(kinesis.sort_keys) == sorted([*map(str, range(40)), "x"])


def test_streams_and_destinations_do_not_disturb_each_other(engine: Engine, kinesis: Kinesis) -> None:
    keys_only = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    engine.call("UpdateTable", TableName="table", StreamSpecification=keys_only)
    enable(engine)
    put(engine, "1")
    deliver(engine)
    assert "NewImage" in kinesis.records[0]["dynamodb"]
    disable(engine)
    put(engine, "2")
    assert deliver(engine) == 0
    with engine.store.read() as snapshot:
        assert len(list(snapshot.scan(b"l", b"m"))) == 2


def test_the_log_is_kept_for_a_day(engine: Engine, kinesis: Kinesis) -> None:
    kinesis.answer = lambda request: (503, {})
    enable(engine)
    put(engine, "1")
    engine.clock.advance(23 * HOUR)
    put(engine, "2")
    deliver(engine)
    engine.clock.advance(2 * HOUR)
    engine.run_jobs()
    kinesis.answer = accepted
    deliver(engine)
    assert kinesis.sort_keys[-1] == "2"
    with engine.store.read() as snapshot:
        assert len(list(snapshot.scan(b"l", b"m"))) == 1
    disable(engine)
    engine.clock.advance(HOUR)
    engine.run_jobs()
    with engine.store.read() as snapshot:
        assert list(snapshot.scan(b"l", b"m")) == []
        assert list(snapshot.scan(b"K", b"L")) == []
    assert described(engine) == []


def test_what_a_deleted_table_left_in_the_log_is_delivered_first(engine: Engine, kinesis: Kinesis) -> None:
    enable(engine)
    put(engine, "1")
    engine.call("DeleteTable", TableName="table")
    engine.run_jobs()
    deliver(engine)
    engine.run_jobs()
    assert kinesis.sort_keys == ["1"]
    with engine.store.read() as snapshot:
        assert list(snapshot.scan(b"K", b"L")) == []
        assert list(snapshot.scan(b"l", b"m")) == []


def test_an_answer_without_end_is_not_read_to_it(kinesis: Kinesis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "ANSWER_BYTES_MAX", 10)
    with pytest.raises(client.KinesisFailed, match="InvalidAnswer"):
        client.put_records(kinesis.url, ARN, [("key", b"data")], 0)
