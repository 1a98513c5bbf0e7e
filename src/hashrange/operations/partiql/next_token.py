"""NextToken: where a SELECT goes on. To clients it is opaque, and it belongs to the statement that it came from."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import orjson

from hashrange.engine.source import Source
from hashrange.errors import ValidationException
from hashrange.values.attribute import MalformedValue, check_attributes
from hashrange.values.types import Attributes

INVALID = "Invalid NextToken"
OTHER_REQUEST = "NextToken does not match request"

DIGEST_BYTES = 16
CHECKSUM_BYTES = 8


@dataclass(frozen=True, slots=True)
class Position:
    """The range to go on with, counted from the first, and the last key that was evaluated in it."""

    range_number: int = 0
    last_key: Attributes | None = None


def digest_of(statement: str, parameters: Sequence[Any] | None) -> bytes:
    """What makes a request the same as the one before."""
    return blake2b(orjson.dumps([statement, parameters or []]), digest_size=DIGEST_BYTES).digest()


def encode(position: Position, digest: bytes) -> str:
    content = digest + orjson.dumps([position.range_number, position.last_key])
    return urlsafe_b64encode(_checksum(content) + content).decode()


def decode(token: str, digest: bytes) -> Position:
    """The position that a token stands for; it must be ours and come from the same statement."""
    try:
        data = urlsafe_b64decode(token.encode("ascii"))
    except ValueError:
        raise ValidationException(INVALID) from None
    content = data[CHECKSUM_BYTES:]
    if _checksum(content) != data[:CHECKSUM_BYTES]:
        raise ValidationException(INVALID)
    if content[:DIGEST_BYTES] != digest:
        raise ValidationException(OTHER_REQUEST)
    range_number, last_key = orjson.loads(content[DIGEST_BYTES:])
    return Position(range_number, last_key)


def check_position(position: Position, source: Source, range_count: int) -> None:
    """Refuse a position that this table or index does not have: the token outlived it."""
    if position.range_number >= range_count:
        raise ValidationException(INVALID)
    if position.last_key is None:
        return
    try:
        check_attributes(position.last_key)
    except (ValidationException, MalformedValue):
        raise ValidationException(INVALID) from None
    if not source.has_position_shape(position.last_key):
        raise ValidationException(INVALID)


def _checksum(content: bytes) -> bytes:
    return blake2b(content, digest_size=CHECKSUM_BYTES).digest()
