"""Where the next page begins, in a text that clients carry."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import orjson

from hashrange.errors import InvalidNextToken


def token_of(*position: Any) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(position)).decode()


def position_of(token: str, kinds: tuple[type, ...]) -> list[Any]:
    """What `token_of` was given; InvalidNextToken if it was not us who made it."""
    try:
        position = orjson.loads(base64.urlsafe_b64decode(token.encode()))
    except (binascii.Error, ValueError):
        raise InvalidNextToken from None
    if not isinstance(position, list) or [type(part) for part in position] != list(kinds):
        raise InvalidNextToken
    return position
