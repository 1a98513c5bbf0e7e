"""Requests as botocore signs them, an implementation that is not ours, and as they arrive here."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from hashrange.auth.claim import claim_of
from hashrange.auth.sigv4 import verify

KEY_ID = "AKIDEXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
NOW = 1_800_000_000
HEADERS = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Target": "DynamoDB_20120810.GetItem",
    "User-Agent": "whatever",
}


@dataclass
class Sent:
    """A request as the reader hands it on."""

    method: bytes
    url: bytes
    headers: dict[bytes, bytes]
    body_as_sent: bytes = field(default=b"")


def sign(
    *,
    url: str = "http://localhost:8000/",
    method: str = "POST",
    body: bytes = b"{}",
    headers: dict[str, str] | None = None,
    token: str | None = None,
    in_query: bool = False,
    lifetime_seconds: int = 300,
    service: str = "dynamodb",
    region: str = "us-east-1",
    at: float = NOW,
    context: dict[str, Any] | None = None,
    params: dict[str, str] | None = None,
) -> Sent:
    headers = dict(headers or HEADERS)
    if in_query:  # botocore would make the body a part of the query, unless told the hash of one that it does not see
        headers["X-Amz-Content-SHA256"] = sha256(body).hexdigest()
    request = AWSRequest(method, url, headers=headers, data=b"" if in_query else body, params=params)
    request.context.update(context or {})
    credentials = Credentials(KEY_ID, SECRET, token)
    if in_query:
        signer: SigV4Auth = SigV4QueryAuth(credentials, service, region, expires=lifetime_seconds)
    else:
        signer = SigV4Auth(credentials, service, region)
    with patch("botocore.auth.get_current_datetime", lambda: datetime.fromtimestamp(at, UTC)):
        signer.add_auth(request)
    return received(request, body)


def received(request: AWSRequest, body: bytes) -> Sent:
    prepared = request.prepare()
    parts = urlsplit(prepared.url)
    found: dict[bytes, bytes] = {b"host": parts.netloc.encode()}
    for name, value in request.headers.items():
        lower, text = name.lower().encode(), value.encode() if isinstance(value, str) else value
        found[lower] = found[lower] + b"," + text.strip() if lower in found and lower != b"host" else text.strip()
    target = parts.path or "/"
    return Sent(
        prepared.method.encode(),
        (f"{target}?{parts.query}" if parts.query else target).encode(),
        found,
        body,
    )


def check(sent: Sent, *, secret: str = SECRET, service: str = "dynamodb", now: float = NOW) -> None:
    verify(claim_of(sent.url, sent.headers), sent, secret=secret, service=service, now_seconds=now)
