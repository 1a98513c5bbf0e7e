"""What a request's signature says about who sends it: access key and credential scope. Nothing is verified here."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs

from hashrange.errors import (
    IncompleteSignatureException,
    InvalidSignatureException,
    MissingAuthenticationTokenException,
)

CREDENTIAL = b"Credential="
HEADER_PARTS = ("Credential", "Signature", "SignedHeaders")
SIGNATURE = b"Signature="
SIGNED_HEADERS = b"SignedHeaders="
HEADS_KEPT = 512
HEAD_BYTES_MAX = 1024  # of those that are kept; a stranger could send longer ones
QUERY_PARTS = ("X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date")


@dataclass(frozen=True, slots=True)
class Credential:
    """The access key and the credential scope of a signature, `key/date/region/service/aws4_request`."""

    access_key: str
    date: str
    region: str
    service: str
    terminator: str


_heads: dict[bytes, Credential] = {}
"""By what Authorization headers say before the signature, which is the same for a day."""


def credential_of(url: bytes, headers: dict[bytes, bytes]) -> Credential:
    """The credential that a request was signed with, in its Authorization header or in its query string."""
    authorization = headers.get(b"authorization")
    if authorization is not None and url == b"/" and b"x-amz-date" in headers:
        known = _heads.get(authorization.rpartition(SIGNATURE)[0])
        if known is not None:
            return known
    return _looked_for(authorization, url, headers)


def _looked_for(authorization: bytes | None, url: bytes, headers: dict[bytes, bytes]) -> Credential:
    """The credential of a request whose header we have not met yet, or that is out of the ordinary."""
    in_query = b"X-Amz-" in url
    if authorization is None:
        if in_query:
            return _from_query(url)
        raise MissingAuthenticationTokenException("Request is missing Authentication Token")
    if in_query and b"X-Amz-Algorithm" in url:
        raise InvalidSignatureException(
            "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."
        )
    return _from_header(authorization, headers)


def _from_header(authorization: bytes, headers: dict[bytes, bytes]) -> Credential:
    start = authorization.find(CREDENTIAL)
    dated = b"x-amz-date" in headers or b"date" in headers
    if start < 0 or not dated or SIGNATURE not in authorization or SIGNED_HEADERS not in authorization:
        raise _incomplete_header(authorization, dated=dated)
    start += len(CREDENTIAL)
    end = authorization.find(b",", start)
    if end < 0:
        end = len(authorization)
    found = _parse(authorization[start:end].strip())
    _keep(authorization.rpartition(SIGNATURE)[0], found)
    return found


def _keep(head: bytes, credential: Credential) -> None:
    """Keep what a header says before its signature, if all of it is there and none of it is cut off."""
    is_whole = CREDENTIAL in head and SIGNED_HEADERS in head and head.rstrip().endswith(b",")
    if is_whole and len(head) <= HEAD_BYTES_MAX:
        if len(_heads) >= HEADS_KEPT:
            _heads.clear()
        _heads[head] = credential


def _incomplete_header(authorization: bytes, *, dated: bool) -> IncompleteSignatureException:
    text = authorization.decode("latin-1")
    missing = [f"Authorization header requires '{name}' parameter. " for name in HEADER_PARTS if f"{name}=" not in text]
    if not dated:
        missing.append("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ")
    return IncompleteSignatureException("".join(missing) + f"Authorization={text}")


def query_of(url: bytes) -> dict[str, list[str]]:
    """The parameters of a query string."""
    return parse_qs(url.partition(b"?")[2].decode("latin-1"), keep_blank_values=True)


def _from_query(url: bytes) -> Credential:
    query = query_of(url)
    missing = [name for name in QUERY_PARTS if name not in query]
    if missing:
        raise IncompleteSignatureException(
            "".join(f"AWS query-string parameters must include '{name}'. " for name in missing)
            + "Re-examine the query-string parameters."
        )
    return _parse(query["X-Amz-Credential"][0].encode("utf-8"))


def _parse(credential: bytes) -> Credential:
    parts = credential.decode("latin-1").split("/")
    if len(parts) < 5:
        raise IncompleteSignatureException(
            f"Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, "
            f"got '{credential.decode('latin-1')}'"
        )
    # An access key may itself contain slashes; the scope is always the last four parts.
    found = Credential("/".join(parts[:-4]), *parts[-4:])
    if not found.region.isprintable():  # it becomes a part of keys in the store
        raise InvalidSignatureException(f"Credential should be scoped to a valid region, not '{found.region}'. ")
    return found
