"""Request ids: 52 characters, unlike any other id of this or any other process."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ID_CHARACTERS = 52
COUNTER_DIGITS = 10  # hexadecimal
COUNTER_MAX = 16**COUNTER_DIGITS - 1
SCATTER = 0x9E3779B97F | 1  # odd, so steps of this length come to every counter value once
ENDINGS = tuple(f"{ending:03X}" for ending in range(16**3))  # ids that differ in nothing else cost next to nothing
PREFIX_CHARACTERS = ID_CHARACTERS - COUNTER_DIGITS - len(ENDINGS[0])


def request_ids() -> Iterator[str]:
    """Ids of a random prefix, a counter whose digits are scattered, and an ending."""
    prefix = "".join(secrets.choice(ALPHABET) for _ in range(PREFIX_CHARACTERS))
    counter = secrets.randbits(4 * COUNTER_DIGITS)
    while True:
        counter = counter + SCATTER & COUNTER_MAX
        beginning = f"{prefix}{counter:0{COUNTER_DIGITS}X}"
        for ending in ENDINGS:
            yield beginning + ending
