"""The smallest client that will do: one connection, no retries, so that a test knows what became of each request."""

from __future__ import annotations

import http.client
import threading
import time
from types import TracebackType
from typing import Any

import orjson

HEADERS = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=0",
}
TIMEOUT_SECONDS = 20.0
STREAM_OPERATIONS = ("ListStreams", "DescribeStream", "GetShardIterator", "GetRecords")


class Lost(Exception):
    """The connection ended before the answer: the request may have happened, or not."""


class Refused(Exception):
    """The server said no. `code` is the error's name."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(f"{status} {body}")
        self.status = status
        self.code = str(body.get("__type", "")).rpartition("#")[2]
        self.body = body


class Client:
    """One connection, opened when it is needed. `ending` is set when the server is about to go for good."""

    def __init__(self, port: int, ending: threading.Event | None = None) -> None:
        self.port = port
        self.ending = ending or threading.Event()
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)

    def __call__(self, operation: str, **members: Any) -> dict[str, Any]:
        service = "DynamoDBStreams" if operation in STREAM_OPERATIONS else "DynamoDB"
        headers = {**HEADERS, "X-Amz-Target": f"{service}_20120810.{operation}"}
        try:
            self._connection.request("POST", "/", orjson.dumps(members), headers)
            response = self._connection.getresponse()
            body = orjson.loads(response.read() or b"{}")
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise Lost(f"{operation}: {error!r}") from error
        if response.status != 200:
            raise Refused(response.status, body)
        assert isinstance(body, dict)
        return body

    def refusal(self, operation: str, **members: Any) -> Refused | None:
        """Make a request that may be refused, and return how it was; None if it was not."""
        try:
            self(operation, **members)
        except Refused as refused:
            return refused
        return None

    def patiently(self, operation: str, **members: Any) -> dict[str, Any]:
        """The same for a request that may be repeated: goes on until a worker is there to answer."""
        ends_at = time.monotonic() + TIMEOUT_SECONDS
        while True:
            try:
                return self(operation, **members)
            except Lost:
                assert time.monotonic() < ends_at, f"{operation} was never answered"
                if self.ending.wait(0.02):
                    raise

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def key(*values: str) -> dict[str, Any]:
    """A primary key of strings: `pk`, and `sk` if a second value is given."""
    return {name: {"S": value} for name, value in zip(("pk", "sk"), values, strict=False)}
