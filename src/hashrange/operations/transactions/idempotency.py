"""Client request tokens: the same transaction sent twice within ten minutes happens once."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import orjson

from hashrange.engine import keyspace
from hashrange.engine.scope import Scope
from hashrange.errors import IdempotentParameterMismatchException
from hashrange.limits import TRANSACTION_TOKEN_SECONDS
from hashrange.storage.interface import Snapshot

TOKEN_MICROS = TRANSACTION_TOKEN_SECONDS * 1_000_000


def digest_of(actions: Any) -> str:
    """What makes two requests the same; nothing of one that is nested deeper than any item, and refused for it."""
    try:
        text = orjson.dumps(actions, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        return ""
    return blake2b(text, digest_size=16).hexdigest()


def was_carried_out(snapshot: Snapshot, scope: Scope, token: str, digest: str, now_micros: int) -> bool:
    """Whether the transaction with this token has happened; a different one under the same token is refused."""
    stored = snapshot.get(keyspace.token_key(scope.prefix, token))
    if stored is None:
        return False
    record = orjson.loads(stored)
    if record["expires_at_micros"] <= now_micros:
        return False
    if record["digest"] != digest:
        raise IdempotentParameterMismatchException(
            "The client request token was used with different parameters within the idempotency window"
        )
    return True


def remember(scope: Scope, token: str, digest: str, now_micros: int) -> list[tuple[bytes, bytes | None]]:
    """Keep the token until the window ends, together with a note of when to forget it."""
    expires_at_micros = now_micros + TOKEN_MICROS
    key = keyspace.token_key(scope.prefix, token)
    record = orjson.dumps({"digest": digest, "expires_at_micros": expires_at_micros})
    return [(key, record), (keyspace.expiry_key(expires_at_micros, key), b"")]
