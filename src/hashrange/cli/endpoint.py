"""A table reached through a running server, with the standard library's HTTP client."""

from __future__ import annotations

import argparse
import http.client
import ssl
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any
from urllib.parse import urlsplit

import orjson

from hashrange.auth.signing import DEFAULT_REGION, SigningKeys, signed_headers
from hashrange.cli.item_lines import BadLine, Line
from hashrange.cli.options import ConfigurationError
from hashrange.cli.own_key import own_key
from hashrange.clock import SystemClock
from hashrange.limits import BATCH_WRITE_REQUESTS_MAX

TARGETS = {"dynamodb": "DynamoDB_20120810", "monitoring": "GraniteServiceVersion20100801"}  # by signing name
CONNECTIONS = 8
GROUP = BATCH_WRITE_REQUESTS_MAX
TIMEOUT_SECONDS = 60.0
RETRY_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # for what a server under load did not take


class Refused(Exception):
    """The server said no."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message or code)
        self.code = code


class Unreachable(ConfigurationError):
    """No server answers."""


class Endpoint:
    """One connection to a server."""

    def __init__(self, url: str, region: str = DEFAULT_REGION) -> None:
        parts = urlsplit(url if "//" in url else f"//{url}", scheme="http")
        try:
            host, port = parts.hostname, parts.port
        except ValueError:
            host = port = None
        if parts.scheme not in ("http", "https") or not host:
            raise ConfigurationError(f"{url!r} is not an endpoint such as http://127.0.0.1:8000.")
        self.url = url
        self._host = parts.netloc.rpartition("@")[2]
        self._region = region
        self._keys = own_key()
        if parts.scheme == "https":
            context = ssl.create_default_context()
            self._connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, port, timeout=TIMEOUT_SECONDS, context=context
            )
        else:
            self._connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)

    def request(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], service: str = "dynamodb"
    ) -> tuple[int, bytes]:
        """Status and body of an answer."""
        if self._keys is not None:
            headers = self._signed(self._keys, service, method, path, body, headers)
        try:
            self._connection.request(method, path, body, headers)
            response = self._connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise Unreachable(f"The server at {self.url} does not answer: {error or type(error).__name__}.") from None

    def _signed(
        self, keys: SigningKeys, service: str, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> dict[str, str]:
        unsigned = {name.lower(): value for name, value in headers.items() if name != "Authorization"}
        return signed_headers(
            keys,
            service=service,
            region=self._region,
            method=method,
            host=self._host,
            path=path,
            body=body or b"",
            headers=unsigned,
            now_seconds=SystemClock().seconds(),
        )

    def close(self) -> None:
        self._connection.close()


class EndpointTable:
    """A table of a server, for bulk reading and writing. Requests of several connections share a sync of its disk."""

    lines_per_batch = GROUP * CONNECTIONS

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._name = arguments.table
        self._headers = headers_for(arguments.account, arguments.region)
        self._connections: SimpleQueue[Endpoint] = SimpleQueue()
        for _ in range(CONNECTIONS):
            self._connections.put(Endpoint(arguments.endpoint, arguments.region))
        self._pool = ThreadPoolExecutor(CONNECTIONS)
        self._key_names: tuple[str, ...] = ()
        self.lines_written = 0

    def close(self) -> None:
        self._pool.shutdown()
        while not self._connections.empty():
            self._connections.get().close()

    def exists(self) -> bool:
        try:
            description = self._call("DescribeTable", TableName=self._name)["Table"]
        except Refused as refused:
            if refused.code != "ResourceNotFoundException":
                raise
            return False
        self._key_names = tuple(element["AttributeName"] for element in description["KeySchema"])
        return True

    def create(self, members: dict[str, Any]) -> None:
        """Create the table as the members of a CreateTable request say, and wait until it is there."""
        try:
            self._call("CreateTable", **{**members, "TableName": self._name})
        except Refused as refused:
            raise ConfigurationError(f"The table cannot be created: {refused}") from None
        while self._call("DescribeTable", TableName=self._name)["Table"]["TableStatus"] != "ACTIVE":
            time.sleep(RETRY_SECONDS[0])
        self.exists()

    def contents(self) -> Iterator[Any]:
        """The description of the table, and then the JSON of each of its items, page by page."""
        try:
            yield self._call("DescribeTable", TableName=self._name)["Table"]
            start: dict[str, Any] = {}
            while True:
                page = self._call("Scan", TableName=self._name, ConsistentRead=True, **start)
                yield from map(orjson.dumps, page["Items"])
                if "LastEvaluatedKey" not in page:
                    return
                start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        except Refused as refused:
            raise ConfigurationError(f"The server refuses: {refused}") from None

    def put(self, lines: Sequence[Line]) -> None:
        latest = {self._key_of(line): line for line in lines}  # of several with one key the last one counts
        requests = [{"PutRequest": {"Item": orjson.Fragment(line.put.json)}} for line in latest.values()]
        groups = [requests[start : start + GROUP] for start in range(0, len(requests), GROUP)]
        try:
            list(self._pool.map(self._write, groups))
        except Refused as refused:
            if refused.code != "ValidationException":
                raise
            self._put_one_by_one(lines)  # which finds the line that is wrong
            return
        self.lines_written += len(lines)

    def finish(self) -> None:
        """Nothing is left to wait for."""

    def _write(self, requests: list[Any]) -> None:
        for pause in (*RETRY_SECONDS, None):
            answer = self._call("BatchWriteItem", RequestItems={self._name: requests})
            requests = answer.get("UnprocessedItems", {}).get(self._name, [])
            if not requests:
                return
            if pause is not None:
                time.sleep(pause)
        raise Refused("ThrottlingException", "the server is too busy")

    def _put_one_by_one(self, lines: Sequence[Line]) -> None:
        for line in lines:
            try:
                self._call("PutItem", TableName=self._name, Item=orjson.Fragment(line.put.json))
            except Refused as refused:
                raise BadLine(line.number, str(refused)) from None
            self.lines_written += 1

    def _key_of(self, line: Line) -> bytes:
        return orjson.dumps([line.put.attributes.get(name) for name in self._key_names])

    def _call(self, operation: str, **members: Any) -> dict[str, Any]:
        connection = self._connections.get()
        try:
            return call(connection, self._headers, "dynamodb", operation, members)
        finally:
            self._connections.put(connection)


def call(
    endpoint: Endpoint, headers: dict[str, str], service: str, operation: str, members: dict[str, Any]
) -> dict[str, Any]:
    """The answer to one request."""
    named = {**headers, "X-Amz-Target": f"{TARGETS[service]}.{operation}"}
    status, body = endpoint.request("POST", "/", orjson.dumps(members), named, service)
    try:
        answer = orjson.loads(body or b"{}")
    except orjson.JSONDecodeError:
        raise ConfigurationError(f"What answers at {endpoint.url} is not DynamoDB.") from None
    if status == 200 and isinstance(answer, dict):
        return answer
    code = str(answer.get("__type", status)).rpartition("#")[2]
    raise Refused(code, answer.get("message") or answer.get("Message") or "")


def headers_for(account: str, region: str) -> dict[str, str]:
    """What a request needs to be taken for one of an account and a region; see auth/credentials.py."""
    return {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Date": "20260101T000000Z",
        "Authorization": f"AWS4-HMAC-SHA256 Credential={account}/20260101/{region}/dynamodb/aws4_request, "
        "SignedHeaders=host;x-amz-date;x-amz-target, Signature=0",
    }
