"""Signature Version 4 for requests that we send ourselves, with credentials from the environment."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

ALGORITHM = "AWS4-HMAC-SHA256"
ANYBODY = "any"  # stand-ins for AWS look for a signature, but not at it


@dataclass(frozen=True, slots=True)
class SigningKeys:
    """Who signs."""

    access_key: str
    secret_key: str
    session_token: str | None = None

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> SigningKeys:
        return cls(
            access_key=environment.get("AWS_ACCESS_KEY_ID") or ANYBODY,
            secret_key=environment.get("AWS_SECRET_ACCESS_KEY") or ANYBODY,
            session_token=environment.get("AWS_SESSION_TOKEN") or None,
        )


def signed_post(
    keys: SigningKeys,
    *,
    service: str,
    region: str,
    host: str,
    path: str,
    body: bytes,
    headers: Mapping[str, str],
    now_seconds: float,
) -> dict[str, str]:
    """All headers of a POST without a query, the signature among them. Header names are in lower case."""
    moment = datetime.fromtimestamp(now_seconds, UTC).strftime("%Y%m%dT%H%M%SZ")
    signed = {**headers, "host": host, "x-amz-date": moment}
    if keys.session_token is not None:
        signed["x-amz-security-token"] = keys.session_token
    names = sorted(signed)
    lines = "".join(f"{name}:{signed[name].strip()}\n" for name in names)
    canonical = "\n".join(("POST", path, "", lines, ";".join(names), sha256(body).hexdigest()))
    scope = (moment[:8], region, service, "aws4_request")
    to_sign = "\n".join((ALGORITHM, moment, "/".join(scope), sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{keys.secret_key}".encode()
    for part in scope:
        key = hmac.new(key, part.encode(), sha256).digest()
    signature = hmac.new(key, to_sign.encode(), sha256).hexdigest()
    signed["authorization"] = (
        f"{ALGORITHM} Credential={keys.access_key}/{'/'.join(scope)}, SignedHeaders={';'.join(names)}, "
        f"Signature={signature}"
    )
    return signed
