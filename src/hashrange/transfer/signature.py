"""Signature Version 4 for requests to S3, with credentials from the environment."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "s3"
DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who signs. Without a key requests go out unsigned, which is enough for buckets that are open to all."""

    access_key: str | None
    secret_key: str
    session_token: str | None
    region: str

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> Credentials:
        return cls(
            access_key=environment.get("AWS_ACCESS_KEY_ID") or None,
            secret_key=environment.get("AWS_SECRET_ACCESS_KEY", ""),
            session_token=environment.get("AWS_SESSION_TOKEN") or None,
            region=environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or DEFAULT_REGION,
        )


def signed_headers(
    credentials: Credentials,
    *,
    method: str,
    host: str,
    path: str,
    query: str,
    body: bytes,
    headers: Mapping[str, str],
    now_seconds: float,
) -> dict[str, str]:
    """All headers of a request, the signature among them. Header names are in lower case; the query is sorted."""
    moment = datetime.fromtimestamp(now_seconds, UTC).strftime("%Y%m%dT%H%M%SZ")
    content_hash = sha256(body).hexdigest()
    signed = {**headers, "host": host, "x-amz-date": moment, "x-amz-content-sha256": content_hash}
    if credentials.session_token is not None:
        signed["x-amz-security-token"] = credentials.session_token
    if credentials.access_key is None:
        return signed
    names = ";".join(sorted(signed))
    canonical_headers = "".join(f"{name}:{signed[name].strip()}\n" for name in sorted(signed))
    canonical = "\n".join((method, path, query, canonical_headers, names, content_hash))
    scope = f"{moment[:8]}/{credentials.region}/{SERVICE}/aws4_request"
    to_sign = "\n".join((ALGORITHM, moment, scope, sha256(canonical.encode()).hexdigest()))
    signature = hmac.new(signing_key(credentials, moment[:8]), to_sign.encode(), sha256).hexdigest()
    signed["authorization"] = (
        f"{ALGORITHM} Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return signed


def signing_key(credentials: Credentials, day: str) -> bytes:
    key = f"AWS4{credentials.secret_key}".encode()
    for part in (day, credentials.region, SERVICE, "aws4_request"):
        key = hmac.new(key, part.encode(), sha256).digest()
    return key
