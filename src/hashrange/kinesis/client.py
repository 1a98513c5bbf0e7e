"""PutRecords, the one call of Kinesis that we make: JSON 1.1, signed, over HTTP. It blocks: use a thread."""

from __future__ import annotations

import http.client
import os
from base64 import b64encode
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import orjson

from hashrange.auth.signing import SigningKeys, signed_headers
from hashrange.kinesis.destination import STREAM_ARN

TIMEOUT_SECONDS = 30.0
ANSWER_BYTES_MAX = 16 * 1024 * 1024
JSON_TYPE = "application/x-amz-json-1.1"
TARGET = "Kinesis_20131202.PutRecords"
NO_SUCH_STREAM = "ResourceNotFoundException"


class KinesisFailed(Exception):
    """The endpoint did not take the records. `code` is its own word for it, if it answered at all."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


def put_records(endpoint: str, stream_arn: str, records: Sequence[tuple[str, bytes]], now_seconds: float) -> int:
    """Send records, each with its partition key. How many of them, from the first on, were taken."""
    match = STREAM_ARN.fullmatch(stream_arn)
    assert match is not None, "a destination is made with the ARN of a stream"
    region, name = match.groups()
    body = orjson.dumps(
        {
            "StreamName": name,
            "StreamARN": stream_arn,
            "Records": [{"Data": b64encode(data).decode(), "PartitionKey": key} for key, data in records],
        }
    )
    results = call(endpoint, region, body, now_seconds).get("Records")
    if not isinstance(results, list) or len(results) != len(records):
        raise KinesisFailed("InvalidAnswer", "the endpoint does not say what became of each record")
    refused = (place for place, result in enumerate(results) if not isinstance(result, dict) or result.get("ErrorCode"))
    return next(refused, len(records))


def call(endpoint: str, region: str, body: bytes, now_seconds: float) -> dict[str, Any]:
    parts = urlsplit(endpoint)
    assert parts.hostname is not None
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = connect(parts.hostname, parts.port, timeout=TIMEOUT_SECONDS)
    path = parts.path or "/"
    headers = signed_headers(
        SigningKeys.of_environment(os.environ, stand_in="any"),
        service="kinesis",
        region=region,
        method="POST",
        host=parts.netloc.rpartition("@")[2],
        path=path,
        body=body,
        headers={"content-type": JSON_TYPE, "x-amz-target": TARGET},
        now_seconds=now_seconds,
    )
    try:
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        answer = response.read(ANSWER_BYTES_MAX)
    except (OSError, http.client.HTTPException) as error:
        raise KinesisFailed(type(error).__name__, str(error)) from error
    finally:
        connection.close()
    return parsed(response.status, answer)


def parsed(status: int, answer: bytes) -> dict[str, Any]:
    try:
        content = orjson.loads(answer) if answer else {}
    except orjson.JSONDecodeError:
        content = {}
    if not isinstance(content, dict):
        content = {}
    if status != 200:
        code = str(content.get("__type", f"HTTP status {status}")).rpartition("#")[2]
        raise KinesisFailed(code, str(content.get("message", "")))
    return content
