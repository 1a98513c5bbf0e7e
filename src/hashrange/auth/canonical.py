"""The canonical request of Signature Version 4: the one text that a signer and a verifier both arrive at.

POST                                  method
/                                     path, percent-encoded once more than it was sent
                                      query, decoded and encoded again, in order
host:localhost:8000                   the signed headers, each name once, in order
x-amz-date:20260101T000000Z

host;x-amz-date                       their names
44136fa355b3678a...                   hash of the body
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote, unquote_to_bytes

NAMES_REMEMBERED_MAX = 32
UNRESERVED = "-_.~"
SIGNATURE_PARAMETER = "X-Amz-Signature"


def canonical_request(
    method: bytes, url: bytes, headers: dict[bytes, bytes], names: tuple[bytes, ...], payload_hash: bytes
) -> bytes:
    """The canonical request with these signed headers; KeyError if the request does not have one of them.

    `headers` holds the values of a repeated header joined by commas.
    """
    values = [headers[name] for name in names]
    path, query = (b"/", b"") if url == b"/" else canonical_url(url)
    template = _remembered_template(names) if len(names) <= NAMES_REMEMBERED_MAX else _template(names)
    request = template % (method, path, query, *values, payload_hash)
    if b"  " in request or b"\t" in request or b": " in request or b" \n" in request:
        return template % (method, path, query, *map(trimmed, values), payload_hash)
    return request


def _template(names: tuple[bytes, ...]) -> bytes:
    """A canonical request with these signed headers, in which everything else is still to be filled in."""
    plain = [name.replace(b"%", b"%%") for name in names]
    return b"%b\n%b\n%b\n" + b"".join(name + b":%b\n" for name in plain) + b"\n" + b";".join(plain) + b"\n%b"


_remembered_template = lru_cache(maxsize=256)(_template)


def trimmed(value: bytes) -> bytes:
    """A header's value without white space around it, and with single spaces inside."""
    return b" ".join(value.split())


def canonical_url(url: bytes) -> tuple[bytes, bytes]:
    path, _, query = url.partition(b"?")
    return canonical_path(path), canonical_query(query)


def canonical_path(path: bytes) -> bytes:
    """The path without dot segments and doubled slashes. What is percent-encoded in it is encoded again."""
    kept: list[bytes] = []
    for segment in path.split(b"/"):
        if segment == b"..":
            del kept[-1:]
        elif segment not in (b"", b"."):
            kept.append(segment)
    end = b"/" if kept and path.endswith(b"/") else b""
    return quote(b"/" + b"/".join(kept) + end, safe="/" + UNRESERVED).encode()


def canonical_query(query: bytes) -> bytes:
    """Every parameter but the signature itself. Names and values are encoded in one way, whichever way they came."""
    pairs = [pair.partition(b"=") for pair in query.split(b"&") if pair]
    encoded = sorted((_encoded(name), _encoded(value)) for name, _, value in pairs)
    return "&".join(f"{name}={value}" for name, value in encoded if name != SIGNATURE_PARAMETER).encode()


def _encoded(text: bytes) -> str:
    return quote(unquote_to_bytes(text.replace(b"+", b" ")), safe=UNRESERVED)
