"""A request's claim to come from the holder of an access key: everything that its signature consists of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

from hashrange.auth.credentials import Credential, credential_of, query_of
from hashrange.errors import IncompleteSignatureException
from hashrange.limits import PRESIGNED_SECONDS_MAX

ALGORITHM = b"AWS4-HMAC-SHA256"
SIGNATURE = b"Signature="
HEADS_KEPT = 512
HEAD_BYTES_MAX = 1024  # of those that are kept; a stranger could send longer ones
BASIC_FORMAT = "%Y%m%dT%H%M%SZ"
BASIC_FORMAT_LENGTH = 16


@dataclass(slots=True)
class Claim:
    """Nothing of it is verified."""

    credential: Credential
    names: tuple[bytes, ...]  # of the signed headers, in order
    signature: bytes
    date: str  # 20260101T000000Z
    token: bytes | None
    lifetime_seconds: int | None = None  # of a presigned request


def claim_of(url: bytes, headers: dict[bytes, bytes]) -> Claim:
    """The claim in the Authorization header or in the query string; an error says what is missing in it."""
    authorization = headers.get(b"authorization")
    if authorization is None:
        return _claim_in_query(credential_of(url, headers), url)
    head, _, signature = authorization.rpartition(SIGNATURE)
    known = _heads.get(head)
    if known is None or url != b"/" or b"x-amz-date" not in headers or b"," in signature:
        known, signature = _taken_apart(url, headers, head, signature)
    credential, names = known
    return Claim(credential, names, signature.strip(), _date_of(headers), headers.get(b"x-amz-security-token"))


Head = tuple[Credential, tuple[bytes, ...]]
_heads: dict[bytes, Head] = {}
"""What Authorization headers say before the signature, which is the same for a day: key, scope and signed headers."""


def _taken_apart(url: bytes, headers: dict[bytes, bytes], head: bytes, signature: bytes) -> tuple[Head, bytes]:
    """A header that we have not met yet, or that is out of the ordinary."""
    credential = credential_of(url, headers)
    if b"," in signature:  # it need not come last
        signature, _, tail = signature.partition(b",")
        return (credential, _names_in(head + tail)), signature
    found = credential, _names_in(head)
    if len(head) <= HEAD_BYTES_MAX and head.rstrip().endswith(b","):  # so that nothing of it is in the signature
        if len(_heads) >= HEADS_KEPT:
            _heads.clear()
        _heads[head] = found
    return found, signature


def _names_in(head: bytes) -> tuple[bytes, ...]:
    """The signed headers."""
    algorithm, _, parameters = head.strip().partition(b" ")
    _require_algorithm(algorithm)
    for parameter in parameters.split(b","):
        name, _, value = parameter.strip().partition(b"=")
        if name == b"SignedHeaders":
            return _names(value)
    raise IncompleteSignatureException(
        f"Authorization header requires 'SignedHeaders' parameter. Authorization={head.decode('latin-1')}"
    )


def _names(listed: bytes) -> tuple[bytes, ...]:
    return tuple(sorted(set(listed.strip().lower().split(b";"))))


def _require_algorithm(algorithm: bytes) -> None:
    if algorithm != ALGORITHM:
        raise IncompleteSignatureException(f"Unsupported AWS 'algorithm': '{algorithm.decode('latin-1')}'.")


def _date_of(headers: dict[bytes, bytes]) -> str:
    """The time of signing: X-Amz-Date, or else Date, which may be written in either way."""
    given = headers.get(b"x-amz-date")
    text = (given if given is not None else headers[b"date"]).decode("latin-1")
    if given is not None or seconds_of(text) is not None:
        return _basic(text)
    try:
        moment = parsedate_to_datetime(text)
        # In the form of e-mail, -0000 is a time in UTC of which nobody says where it was written down.
        return basic_date((moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return _basic(text)


def _basic(text: str) -> str:
    if seconds_of(text) is None:
        raise IncompleteSignatureException(
            f"Date must be in ISO-8601 'basic format'. Got '{text}'. See http://en.wikipedia.org/wiki/ISO_8601"
        )
    return text


def seconds_of(date: str) -> int | None:
    """A time in the basic format of ISO 8601 in seconds since the epoch; None if it is something else."""
    return _seconds(date) if len(date) == BASIC_FORMAT_LENGTH else None


@lru_cache(maxsize=1024)  # clients that sign many requests sign them within the same few seconds
def _seconds(date: str) -> int | None:
    try:
        return int(datetime.strptime(date, BASIC_FORMAT).replace(tzinfo=UTC).timestamp())
    except ValueError:
        return None


def basic_date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime(BASIC_FORMAT)


def _claim_in_query(credential: Credential, url: bytes) -> Claim:
    query = {name: values[0] for name, values in query_of(url).items()}
    _require_algorithm(query["X-Amz-Algorithm"].encode())
    token = query.get("X-Amz-Security-Token")
    return Claim(
        credential,
        _names(query["X-Amz-SignedHeaders"].encode()),
        query["X-Amz-Signature"].encode(),
        _basic(query["X-Amz-Date"]),
        None if token is None else token.encode(),
        _lifetime(query.get("X-Amz-Expires")),
    )


def _lifetime(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text[:10]) <= PRESIGNED_SECONDS_MAX):
        raise IncompleteSignatureException(
            f"X-Amz-Expires must be a number of seconds from 1 to {PRESIGNED_SECONDS_MAX}, not '{text}'."
        )
    return int(text)
