"""Signed requests as an SDK writes them, and a plain client for what is not measured: tables, seeding and checking.

Every system gets the same bytes: the same credentials and the same `Host`, whatever port it listens on, with a true
signature (version 4), so that those which verify can, and the others do not notice.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

Json = dict[str, Any]

# The example credentials of the AWS documentation, which ExtendDB comes with.
ACCESS_KEY_ID = "AKIAIOSFODNN7EXAMPLE"
SECRET_ACCESS_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
REGION = "us-east-1"
HOST = "localhost:8000"
CONTENT_TYPE = "application/x-amz-json-1.0"
SIGNED_HEADERS = "content-type;host;x-amz-date;x-amz-target"
USER_AGENT = "Boto3/1.43.0 md/Botocore#1.43.0 ua/2.1 os/linux lang/python#3.11 cfg/retry-mode#standard"


class RequestFailed(Exception):
    """An answer other than 200. `code` is DynamoDB's name of the error."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.code = code

    @property
    def is_unknown_operation(self) -> bool:
        return self.code in {"UnknownOperationException", "InvalidAction"}


class Signer:
    """Signs many requests of one moment. botocore's own signer does the same in twenty times the time."""

    def __init__(self, moment: datetime | None = None) -> None:
        moment = moment or datetime.now(UTC)
        self.date = f"{moment:%Y%m%dT%H%M%SZ}"
        self.scope = f"{moment:%Y%m%d}/{REGION}/dynamodb/aws4_request"
        self.key = ("AWS4" + SECRET_ACCESS_KEY).encode()
        for part in self.scope.split("/"):
            self.key = hmac.digest(self.key, part.encode(), "sha256")

    def headers(self, operation: str, body: bytes) -> dict[str, str]:
        target = f"DynamoDB_20120810.{operation}"
        canonical = (
            f"POST\n/\n\ncontent-type:{CONTENT_TYPE}\nhost:{HOST}\nx-amz-date:{self.date}\nx-amz-target:{target}\n\n"
            f"{SIGNED_HEADERS}\n{hashlib.sha256(body).hexdigest()}"
        )
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        to_sign = f"AWS4-HMAC-SHA256\n{self.date}\n{self.scope}\n{digest}"
        signature = hmac.digest(self.key, to_sign.encode(), "sha256").hex()
        return {
            "Host": HOST,
            "X-Amz-Target": target,
            "Content-Type": CONTENT_TYPE,
            "Accept-Encoding": "identity",
            "User-Agent": USER_AGENT,
            "X-Amz-Date": self.date,
            "Authorization": (
                f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY_ID}/{self.scope}, "
                f"SignedHeaders={SIGNED_HEADERS}, Signature={signature}"
            ),
            "amz-sdk-invocation-id": f"{signature[:8]}-{signature[8:12]}-4000-8000-{signature[12:24]}",
            "amz-sdk-request": "attempt=1",
        }

    def request_bytes(self, operation: str, body: bytes) -> bytes:
        """One whole HTTP request."""
        lines = [f"{name}: {value}\r\n" for name, value in self.headers(operation, body).items()]
        return f"POST / HTTP/1.1\r\n{''.join(lines)}Content-Length: {len(body)}\r\n\r\n".encode() + body


def signs_like_botocore() -> bool:
    """Whether our signature of a request is the one that the SDK's own signer gives it."""
    body = b'{"TableName": "benchmark"}'
    ours = Signer().headers("DescribeTable", body)
    signed = {name: ours[name] for name in ("Host", "X-Amz-Target", "Content-Type")}
    request = AWSRequest("POST", f"http://{HOST}/", headers=signed, data=body)
    request.context["timestamp"] = ours["X-Amz-Date"]
    signer = SigV4Auth(Credentials(ACCESS_KEY_ID, SECRET_ACCESS_KEY), "dynamodb", REGION)
    canonical = signer.canonical_request(_with_date(request, ours["X-Amz-Date"]))
    return ours["Authorization"].endswith(signer.signature(signer.string_to_sign(request, canonical), request))


def _with_date(request: AWSRequest, date: str) -> AWSRequest:
    request.headers["X-Amz-Date"] = date
    return request


class Client:
    """One connection."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def call(self, operation: str, request: Json, signer: Signer | None = None) -> Json:
        body = json.dumps(request).encode()
        self.connection.request("POST", "/", body, (signer or Signer()).headers(operation, body))
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

    def is_verified(self) -> bool:
        """Whether the server refuses a wrong signature."""
        forger = Signer()
        forger.key = bytes(32)
        try:
            self.call("ListTables", {}, forger)
        except RequestFailed:
            return True
        return False

    def pages(self, operation: str, request: Json) -> Iterator[Json]:
        """Every page of a Query or Scan."""
        while True:
            page = self.call(operation, request)
            yield page
            if "LastEvaluatedKey" not in page:
                return
            request = {**request, "ExclusiveStartKey": page["LastEvaluatedKey"]}
