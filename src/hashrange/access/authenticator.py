"""Finds out who sends a request: looks the access key up and has the signature verified.

A key's secret is derived once, and used as long as the key's record in the snapshot at hand is byte for byte the one
it was derived for. So a key that is changed beside the server is changed for the next request, in every worker.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from hashrange.access.key import AccessKey
from hashrange.access.server_key import NoServerKey, ServerKey
from hashrange.auth.claim import claim_of
from hashrange.auth.identity import EVERYTHING, Identity
from hashrange.auth.signing import SigningKeys
from hashrange.auth.sigv4 import SignedRequest, verify
from hashrange.engine import keyspace
from hashrange.errors import ExpiredTokenException, UnrecognizedClientException
from hashrange.storage.interface import Store

log = logging.getLogger("hashrange.access")

ENTRIES_MAX = 1000
SIGNING_NAMES = {"dynamodbstreams": "dynamodb", "cloudwatch": "monitoring"}  # services that sign under another name


@dataclass(frozen=True, slots=True)
class Entry:
    """What it takes to verify one key."""

    raw: bytes | None  # the record that this was made from
    identity: Identity
    secret: str = field(repr=False)
    token: bytes | None = field(default=None, repr=False)
    key: AccessKey | None = None


def bootstrap_entry(keys: SigningKeys, account: str) -> Entry:
    """The key that the server's environment names. It may do everything, and it is not stored."""
    assert keys.access_key is not None
    identity = Identity(keys.access_key, f"arn:aws:iam::{account}:root", account, (EVERYTHING,), is_root=True)
    return Entry(None, identity, keys.secret_key)


class Authenticator:
    """Knows every key that may be used, and no request that is not signed with one."""

    def __init__(
        self,
        store: Store,
        *,
        server_key: Callable[[], ServerKey | None],
        now_seconds: Callable[[], float],
        bootstrap: Entry | None = None,
    ) -> None:
        self._store = store
        self._find_server_key = server_key
        self._server_key: ServerKey | None = None
        self._now_seconds = now_seconds
        self._bootstrap = bootstrap
        self._entries: dict[str, Entry] = {}

    def identify(self, request: SignedRequest, service: str) -> tuple[Identity, str]:
        """Whoever signed the request for a service, and the region it is for; an error if nobody did who may."""
        claim = claim_of(request.url, request.headers)
        now_seconds = self._now_seconds()
        entry = self._entry(claim.credential.access_key)
        if entry is None or not has_token(entry, claim.token):
            raise unrecognized()
        if entry.key is not None:
            require_usable(entry.key, now_seconds)
        service = SIGNING_NAMES.get(service, service)
        verify(claim, request, secret=entry.secret, service=service, now_seconds=now_seconds)
        return entry.identity, claim.credential.region

    def _entry(self, key_id: str) -> Entry | None:
        bootstrap = self._bootstrap
        if bootstrap is not None and bootstrap.identity.access_key_id == key_id:
            return bootstrap
        with self._store.read() as snapshot:
            raw = snapshot.get(keyspace.access_key_key(key_id))
        if raw is None:
            self._entries.pop(key_id, None)
            return None
        entry = self._entries.get(key_id)
        if entry is not None and entry.raw == raw:
            return entry
        return self._derive(raw)

    def _derive(self, raw: bytes) -> Entry | None:
        key = AccessKey.load(raw)
        server_key = self._server_key = self._server_key or self._find_server_key()
        if server_key is None:
            raise NoServerKey("There are access keys, but the server's key is missing.")
        if not server_key.made(key):
            log.error("access key %s was made with another server key; rotate it", key.id)
            return None
        if len(self._entries) >= ENTRIES_MAX:
            self._entries.clear()
        token = server_key.token_of(key).encode() if key.is_temporary else None
        entry = self._entries[key.id] = Entry(raw, key.identity, server_key.secret_of(key), token, key)
        return entry


def has_token(entry: Entry, token: bytes | None) -> bool:
    """Whether a request has the session token of its key, if the key has one, and else none."""
    if entry.token is None or token is None:
        return entry.token is token
    return hmac.compare_digest(entry.token, token)


def require_usable(key: AccessKey, now_seconds: float) -> None:
    if key.disabled:
        raise unrecognized()
    if key.has_expired(now_seconds):
        raise ExpiredTokenException("The security token included in the request is expired")


def unrecognized() -> UnrecognizedClientException:
    return UnrecognizedClientException("The security token included in the request is invalid.")
