"""Binary values travel as base64 text, in the strict form: padded, one spelling for each byte string."""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64

from hashrange.errors import SerializationException

NOT_BASE64 = "only base-64-encoded strings are convertible to bytes"
BAD_LENGTH = "Base64 encoded length is expected a multiple of 4 bytes but found: {}"
BAD_LAST_CHARACTER = "Invalid last non-pad Base64 character dectected"  # the service's own spelling

# With padding, the last character carries only 4 or 2 bits; the others must be zero.
_LAST_OF_TWO_BYTES = frozenset("AEIMQUYcgkosw048")
_LAST_OF_ONE_BYTE = frozenset("AQgw")


def decode(text: str) -> bytes:
    """The bytes behind base64 text. Succeeds only for the text that `encode` would give."""
    if len(text) % 4:
        raise SerializationException(BAD_LENGTH.format(len(text)))
    try:
        data = a2b_base64(text, strict_mode=True)
    except ValueError:
        raise SerializationException(NOT_BASE64) from None
    if text.endswith("="):
        padded_twice = text.endswith("==")
        last, allowed = (text[-3], _LAST_OF_ONE_BYTE) if padded_twice else (text[-2], _LAST_OF_TWO_BYTES)
        if last not in allowed:
            raise SerializationException(BAD_LAST_CHARACTER)
    return data


def encode(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")


def size_bytes(text: str) -> int:
    """How many bytes are behind valid base64 text, without decoding it."""
    return len(text) // 4 * 3 - text.endswith("=") - text.endswith("==")
