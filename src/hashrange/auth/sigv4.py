"""Verifies Signature Version 4: that a request was made by somebody who knows an access key's secret, and just now.

The checks are made in the service's order, which the messages give away: which headers are signed, the credential
scope, the time, and the signature itself last. Secrets appear in no message.
"""

from __future__ import annotations

import hmac
import re
from functools import lru_cache
from hashlib import sha256
from typing import Protocol

from hashrange.auth.canonical import canonical_request
from hashrange.auth.claim import ALGORITHM, Claim, basic_date, seconds_of
from hashrange.errors import InvalidSignatureException
from hashrange.limits import SIGNATURE_SKEW_SECONDS_MAX

TERMINATOR = "aws4_request"
UNSIGNED_PAYLOAD = b"UNSIGNED-PAYLOAD"
REGION_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
SIGNING_KEYS_KEPT = 1024
SESSION_TOKEN = re.compile(r"(?i)(x-amz-security-token[:=])[^&\n]*")

MISMATCH = (
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
    "and signing method. Consult the service documentation for details."
)


class SignedRequest(Protocol):
    """What a signature covers."""

    @property
    def method(self) -> bytes: ...

    @property
    def url(self) -> bytes: ...

    @property
    def headers(self) -> dict[bytes, bytes]: ...

    @property
    def body_as_sent(self) -> bytes: ...


def verify(claim: Claim, request: SignedRequest, *, secret: str, service: str, now_seconds: float) -> None:
    """Raise unless the request was signed with the secret, for this service, within the last minutes."""
    _require_signed_headers(claim, request)
    _require_scope(claim, service)
    _require_current(claim, now_seconds)
    try:
        canonical = canonical_request(
            request.method, request.url, request.headers, claim.names, payload_hash(claim, request)
        )
    except KeyError:  # a header that was signed has been lost
        raise InvalidSignatureException(MISMATCH) from None
    to_sign = string_to_sign(claim, canonical)
    credential = claim.credential
    mac = signer(secret, credential.date, credential.region, credential.service).copy()
    mac.update(to_sign)
    if not hmac.compare_digest(mac.hexdigest().encode(), claim.signature):
        raise _mismatch(canonical, to_sign)


def _require_signed_headers(claim: Claim, request: SignedRequest) -> None:
    """The host, and whatever AWS gives a meaning to: a target that is not signed could be exchanged."""
    names = claim.names
    if b"host" not in names:
        raise InvalidSignatureException("'Host' must be a 'SignedHeader' in the AWS Authorization.")
    for name in request.headers:
        if name[:6] == b"x-amz-" and name not in names:
            shown = name.decode("latin-1").title()
            raise InvalidSignatureException(f"'{shown}' must be a 'SignedHeader' in the AWS Authorization.")


def _require_scope(claim: Claim, service: str) -> None:
    credential = claim.credential
    wrong = ""
    if not credential.region or not REGION_CHARACTERS.issuperset(credential.region):
        wrong += f"Credential should be scoped to a valid region, not '{credential.region}'. "
    if credential.service != service:
        wrong += f"Credential should be scoped to correct service: '{service}'. "
    if credential.terminator != TERMINATOR:
        wrong += f"Credential should be scoped with a valid terminator: '{TERMINATOR}', not '{credential.terminator}'. "
    if credential.date != claim.date[:8]:
        wrong += (
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
            f"'{credential.date}' != '{claim.date[:8]}', from '{claim.date}'. "
        )
    if wrong:
        raise InvalidSignatureException(wrong)


def _require_current(claim: Claim, now_seconds: float) -> None:
    signed_at = seconds_of(claim.date)
    assert signed_at is not None
    age_max = SIGNATURE_SKEW_SECONDS_MAX if claim.lifetime_seconds is None else claim.lifetime_seconds
    now = int(now_seconds)
    if signed_at < now - age_max:
        raise InvalidSignatureException(
            f"Signature expired: {claim.date} is now earlier than {basic_date(now - age_max)} "
            f"({basic_date(now)} - {_in_minutes(age_max)})"
        )
    latest = now + SIGNATURE_SKEW_SECONDS_MAX
    if signed_at > latest:
        raise InvalidSignatureException(
            f"Signature not yet current: {claim.date} is still later than {basic_date(latest)} "
            f"({basic_date(now)} + {_in_minutes(SIGNATURE_SKEW_SECONDS_MAX)})"
        )


def _in_minutes(seconds: int) -> str:
    return f"{seconds} sec." if seconds % 60 else f"{seconds // 60} min."


def payload_hash(claim: Claim, request: SignedRequest) -> bytes:
    """The hash of the body as it is. A client may leave the body unsigned, but must sign that it does."""
    name = b"x-amz-content-sha256"
    if request.headers.get(name) == UNSIGNED_PAYLOAD and name in claim.names:
        return UNSIGNED_PAYLOAD
    return sha256(request.body_as_sent).hexdigest().encode()


def string_to_sign(claim: Claim, canonical: bytes) -> bytes:
    credential = claim.credential
    scope = f"{credential.date}/{credential.region}/{credential.service}/{TERMINATOR}"
    return b"%b\n%b\n%b\n%b" % (
        ALGORITHM,
        claim.date.encode(),
        scope.encode("latin-1"),
        sha256(canonical).hexdigest().encode(),
    )


@lru_cache(maxsize=SIGNING_KEYS_KEPT)
def signer(secret: str, date: str, region: str, service: str) -> hmac.HMAC:
    """What signs with such a key, when it is copied and given a text."""
    return hmac.new(signing_key(secret, date, region, service), digestmod="sha256")


def signing_key(secret: str, date: str, region: str, service: str) -> bytes:
    """The key that signs for one day, region and service."""
    key = f"AWS4{secret}".encode()
    for part in (date, region, service, TERMINATOR):
        key = hmac.digest(key, part.encode("latin-1"), "sha256")
    return key


def _mismatch(canonical: bytes, to_sign: bytes) -> InvalidSignatureException:
    """With what we calculated, for whoever writes a signer. Session tokens are left out: clients log what we answer."""
    shown = SESSION_TOKEN.sub(r"\1*", canonical.decode("utf-8", "replace"))
    return InvalidSignatureException(
        f"{MISMATCH}\n\nThe Canonical String for this request should have been\n'{shown}'\n\n"
        f"The String-to-Sign should have been\n'{to_sign.decode('utf-8', 'replace')}'\n"
    )
