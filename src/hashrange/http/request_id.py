"""Request ids: 52 characters, unlike any other id of this or any other process."""

from __future__ import annotations

import secrets
from itertools import count

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
COUNTER_DIGITS = 13  # hexadecimal digits, enough for 2**52 requests
ID_CHARACTERS = 52
SCATTER = 0x9E3779B97F4A7 | 1  # odd, so multiplying by it visits every counter value once


class RequestIds:
    """Makes ids from a random prefix and a counter whose digits are scattered."""

    __slots__ = ("_next", "_prefix")

    def __init__(self) -> None:
        self._prefix = "".join(secrets.choice(ALPHABET) for _ in range(ID_CHARACTERS - COUNTER_DIGITS))
        self._next = count(secrets.randbits(40)).__next__

    def __call__(self) -> str:
        return f"{self._prefix}{self._next() * SCATTER & 0xFFFFFFFFFFFFF:013X}"
