"""A whole server without sockets: requests go through the real dispatcher, on a memory store and a clock of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from hashrange import app
from hashrange.capacity.ledger import CapacitySettings
from hashrange.clock import ManualClock
from hashrange.engine.check import check
from hashrange.engine.database import DatabaseSettings
from hashrange.errors import Wording
from hashrange.jobs.job import IoStep
from hashrange.jobs.runner import JOBS
from hashrange.storage import Store, write_and_wait
from hashrange.storage.memory import MemoryStore

AUTHORIZATION = (
    b"AWS4-HMAC-SHA256 Credential=%b/20260101/%b/dynamodb/aws4_request, "
    b"SignedHeaders=host;x-amz-date;x-amz-target, Signature=0123"
)


STREAM_OPERATIONS = ("ListStreams", "DescribeStream", "GetShardIterator", "GetRecords")


def target_of(operation: str) -> bytes:
    if "." in operation:  # of another service: named in full
        return operation.encode()
    service = "DynamoDBStreams_20120810" if operation in STREAM_OPERATIONS else "DynamoDB_20120810"
    return f"{service}.{operation}".encode()


class ApiError(Exception):
    """The error that a client would see."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        self.status = status
        self.body = body
        self.code = body["__type"].rpartition("#")[2]
        self.message = body.get("message", body.get("Message"))
        super().__init__(f"{self.code}: {self.message}")


class FakeExchange:
    """A request that keeps its answer."""

    def __init__(self, headers: dict[bytes, bytes], body: bytes) -> None:
        self.method = b"POST"
        self.url = b"/"
        self.headers = headers
        self.body = body
        self.peer = "test"
        self.secure = False
        self.answer: tuple[int, bytes, bytes] | None = None

    def respond(self, status: int, headers: bytes, body: bytes) -> None:
        self.answer = (status, headers, body)


class Engine:
    """A server in this process. `call` makes a request; `run_jobs` lets the background work finish."""

    def __init__(
        self,
        store: Store | None = None,
        *,
        settings: DatabaseSettings | None = None,
        capacity: CapacitySettings | None = None,
        wording: Wording = Wording.NEWER,
        clock: ManualClock | None = None,
    ) -> None:
        self.store = store or MemoryStore()
        self.clock = clock or ManualClock()
        configuration = app.Settings(
            database=settings or DatabaseSettings(), capacity=capacity or CapacitySettings(), wording=wording
        )
        self.db = app.build_database(self.store, configuration, self.clock)
        self._handle = app.build_handler(self.db, configuration)

    def call(self, operation: str, *, key: str = "AKID", region: str = "us-east-1", **members: Any) -> Any:
        return self.send(operation, orjson.dumps(members), key=key, region=region)

    def send(self, operation: str, body: bytes, *, key: str = "AKID", region: str = "us-east-1") -> Any:
        """A request with any body; its answer, or the error as an exception."""
        headers = {
            b"content-type": b"application/x-amz-json-1.0",
            b"x-amz-target": target_of(operation),
            b"x-amz-date": b"20260101T000000Z",
            b"authorization": AUTHORIZATION % (key.encode(), region.encode()),
        }
        exchange = FakeExchange(headers, body)
        self._handle(exchange)  # type: ignore[arg-type]
        assert exchange.answer is not None
        status, _, answer = exchange.answer
        content = orjson.loads(answer) if answer else None
        if status != 200:
            raise ApiError(status, content)
        return content

    def run_jobs(self) -> int:
        """Run every job until none has anything to do; how many steps that took."""
        self.db.recorder.flush()
        steps = 0
        while True:
            found = [step for job in JOBS if (step := job.next_step(self.db)) is not None]
            if not found:
                return steps
            for step in found:
                write_and_wait(self.store, step.run() if isinstance(step, IoStep) else step)
                steps += 1

    def problems(self) -> list[str]:
        """What `hashrange check` would find."""
        with self.store.read() as snapshot:
            return list(check(snapshot, self.clock.micros()))

    def create_table(self, name: str = "table", **members: Any) -> Any:
        """A table with partition key `pk` and sort key `sk`, both strings, unless told otherwise."""
        defaults: dict[str, Any] = {
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            "AttributeDefinitions": [
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
            "BillingMode": "PAY_PER_REQUEST",
        }
        return self.call("CreateTable", TableName=name, **{**defaults, **members})["TableDescription"]


def expect(code: str, message: str | None, run: Callable[[], Any]) -> ApiError:
    """Assert that a call fails in exactly this way."""
    with pytest.raises(ApiError) as caught:
        run()
    assert (caught.value.code, caught.value.message) == (code, message)
    return caught.value
