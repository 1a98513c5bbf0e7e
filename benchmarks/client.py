"""Requests as an SDK writes them, and a plain client for what is not measured: tables, seeding and checking."""

from __future__ import annotations

import http.client
import json
import uuid
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]


class RequestFailed(Exception):
    """An answer other than 200. `code` is DynamoDB's name of the error."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.code = code

    @property
    def is_unknown_operation(self) -> bool:
        return self.code == "UnknownOperationException"


def headers_of(operation: str, *, signature: str) -> dict[str, str]:
    """What botocore sends. The signature looks like one but is not; each request should have its own, as in life."""
    now = datetime.now(UTC)
    return {
        "X-Amz-Target": f"DynamoDB_20120810.{operation}",
        "Content-Type": "application/x-amz-json-1.0",
        "Accept-Encoding": "identity",
        "User-Agent": "Boto3/1.43.0 md/Botocore#1.43.0 ua/2.1 os/linux lang/python#3.11 cfg/retry-mode#standard",
        "X-Amz-Date": f"{now:%Y%m%dT%H%M%SZ}",
        "Authorization": (
            f"AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/{now:%Y%m%d}/us-east-1/dynamodb/aws4_request, "
            "SignedHeaders=accept-encoding;content-type;host;x-amz-date;x-amz-target, "
            f"Signature={signature.rjust(64, 'a')}"
        ),
        "amz-sdk-invocation-id": str(uuid.uuid4()),
        "amz-sdk-request": "attempt=1",
    }


def request_text(operation: str, body: str, *, signature: str, port: int) -> str:
    """One whole HTTP request."""
    lines = [
        "POST / HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        *(f"{name}: {value}" for name, value in headers_of(operation, signature=signature).items()),
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join(lines) + "\r\n\r\n" + body


class Client:
    """One connection."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def call(self, operation: str, request: Json) -> Json:
        body = json.dumps(request)
        self.connection.request("POST", "/", body, headers_of(operation, signature="0"))
        response = self.connection.getresponse()
        content = response.read()
        try:
            answer: Json = json.loads(content)
        except ValueError:
            raise RequestFailed(response.status, "NotJson", content[:100].decode(errors="replace")) from None
        if response.status != 200:
            code = str(answer.get("__type", "")).rpartition("#")[2]
            raise RequestFailed(response.status, code, str(answer.get("message") or answer.get("Message")))
        return answer
