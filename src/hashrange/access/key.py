"""An access key: who its holder is, and what the holder may do. Its secret is not part of it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from hashrange.auth.identity import EVERYTHING, Identity

LASTING = "HRAK"
TEMPORARY = "HRAT"
ID_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
ID_LENGTH = 16  # after the prefix
SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class AccessKey:
    """The record of an access key."""

    id: str
    account: str
    salt: str  # a new one makes a new secret
    check: str  # tells whether a server key is the one that the secret was derived from
    created_at_seconds: int
    user: str | None = None
    description: str = ""
    full_access: bool = False
    disabled: bool = False
    policies: Mapping[str, str] = field(default_factory=dict)  # JSON texts by their names
    expires_at_seconds: int | None = None  # of a temporary key, which goes with a session token

    @property
    def is_temporary(self) -> bool:
        return self.expires_at_seconds is not None

    @property
    def arn(self) -> str:
        if self.user is None and self.full_access:
            return f"arn:aws:iam::{self.account}:root"
        return f"arn:aws:iam::{self.account}:user/{self.user or self.id}"

    @property
    def identity(self) -> Identity:
        policies = (EVERYTHING,) if self.full_access else tuple(self.policies.values())
        return Identity(self.id, self.arn, self.account, policies, self.full_access)

    def state(self, now_seconds: float) -> str:
        if self.disabled:
            return "disabled"
        return "expired" if self.has_expired(now_seconds) else "active"

    def has_expired(self, now_seconds: float) -> bool:
        return self.expires_at_seconds is not None and now_seconds >= self.expires_at_seconds

    def stored(self) -> bytes:
        return orjson.dumps(self)

    @classmethod
    def load(cls, raw: bytes) -> AccessKey:
        members: dict[str, Any] = orjson.loads(raw)
        return cls(**members)


def new_id(*, temporary: bool) -> str:
    return (TEMPORARY if temporary else LASTING) + "".join(secrets.choice(ID_CHARACTERS) for _ in range(ID_LENGTH))


def new_salt() -> str:
    return secrets.token_hex(SALT_BYTES)
