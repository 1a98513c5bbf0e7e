"""Signature Version 4 for requests that we send ourselves, with credentials from the environment."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256

ALGORITHM = "AWS4-HMAC-SHA256"
DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class SigningKeys:
    """Who signs. Without a key requests go out unsigned, which is enough for what is open to all."""

    access_key: str | None
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)

    @classmethod
    def of_environment(cls, environment: Mapping[str, str], *, stand_in: str | None = None) -> SigningKeys:
        """`stand_in` signs where there are no keys: imitations of AWS look for a signature, but not at it."""
        return cls(
            access_key=environment.get("AWS_ACCESS_KEY_ID") or stand_in,
            secret_key=environment.get("AWS_SECRET_ACCESS_KEY") or stand_in or "",
            session_token=environment.get("AWS_SESSION_TOKEN") or None,
        )


def region_of_environment(environment: Mapping[str, str]) -> str:
    return environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or DEFAULT_REGION


def signed_headers(
    keys: SigningKeys,
    *,
    service: str,
    region: str,
    method: str,
    host: str,
    path: str,
    query: str = "",
    body: bytes,
    headers: Mapping[str, str],
    now_seconds: float,
) -> dict[str, str]:
    """All headers of a request, the signature among them. Header names are in lower case; the query is sorted."""
    moment = datetime.fromtimestamp(now_seconds, UTC).strftime("%Y%m%dT%H%M%SZ")
    content_hash = sha256(body).hexdigest()
    signed = {**headers, "host": host, "x-amz-date": moment, "x-amz-content-sha256": content_hash}
    if keys.session_token is not None:
        signed["x-amz-security-token"] = keys.session_token
    if keys.access_key is None:
        return signed
    names = ";".join(sorted(signed))
    lines = "".join(f"{name}:{signed[name].strip()}\n" for name in sorted(signed))
    canonical = "\n".join((method, path, query, lines, names, content_hash))
    scope = (moment[:8], region, service, "aws4_request")
    to_sign = "\n".join((ALGORITHM, moment, "/".join(scope), sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{keys.secret_key}".encode()
    for part in scope:
        key = hmac.new(key, part.encode(), sha256).digest()
    signature = hmac.new(key, to_sign.encode(), sha256).hexdigest()
    signed["authorization"] = (
        f"{ALGORITHM} Credential={keys.access_key}/{'/'.join(scope)}, SignedHeaders={names}, Signature={signature}"
    )
    return signed
