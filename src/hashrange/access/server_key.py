"""The server's key, from which the secrets of access keys are derived, and which the database does not hold.

It is a file in the data directory, or what HASHRANGE_KEYS_SECRET says. A copy of the database without it tells nobody
any secret (docs/decisions/0008).
"""

from __future__ import annotations

import hmac
import secrets
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

from hashrange.access.key import AccessKey
from hashrange.storage import files

VARIABLE = "HASHRANGE_KEYS_SECRET"
CHARACTERS_MIN = 32
RANDOM_BYTES = 32
SECRET_LENGTH = 40  # characters, as AWS has it
CHECK_LENGTH = 16


class NoServerKey(Exception):
    """Without it nobody's signature can be verified. The message is for people."""


class ServerKey:
    """Derives secrets. It never shows what it derives them from."""

    __slots__ = ("_content",)

    def __init__(self, content: bytes) -> None:
        if len(content) < CHARACTERS_MIN:
            raise NoServerKey(f"The server's key must have at least {CHARACTERS_MIN} characters.")
        self._content = content

    def secret_of(self, key: AccessKey) -> str:
        return b64encode(self._derived(b"secret", key.id, key.salt)).decode()[:SECRET_LENGTH]

    def token_of(self, key: AccessKey) -> str:
        """The session token that goes with a temporary key."""
        return b64encode(self._derived(b"token", key.id, key.salt) + self._derived(b"more", key.id, key.salt)).decode()

    def check_of(self, key_id: str, salt: str) -> str:
        """Something that only this server key makes of these, and that tells nothing about it."""
        return self._derived(b"check", key_id, salt).hex()[:CHECK_LENGTH]

    def made(self, key: AccessKey) -> bool:
        return hmac.compare_digest(self.check_of(key.id, key.salt), key.check)

    def _derived(self, purpose: bytes, key_id: str, salt: str) -> bytes:
        return hmac.digest(
            self._content, b"hashrange\0%b\0%b\0%b" % (purpose, key_id.encode(), salt.encode()), "sha256"
        )


def find_server_key(data: str | None, environment: Mapping[str, str]) -> ServerKey | None:
    """The key of the environment, or that of a data directory; None if there is none yet."""
    if VARIABLE in environment:
        return ServerKey(environment[VARIABLE].encode())
    content = None if data is None else files.server_key(Path(data))
    return None if content is None else ServerKey(content.strip())


def make_server_key(data: str, environment: Mapping[str, str]) -> ServerKey:
    """The key that there is, or else a new one."""
    found = find_server_key(data, environment)
    if found is not None:
        return found
    files.keep_server_key(Path(data), secrets.token_hex(RANDOM_BYTES).encode() + b"\n")
    made = find_server_key(data, environment)
    assert made is not None
    return made
