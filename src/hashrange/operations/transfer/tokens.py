"""Client tokens: the same request sent twice within eight hours starts one transfer."""

from __future__ import annotations

import orjson

from hashrange.engine import keyspace
from hashrange.errors import ClientError
from hashrange.limits import TRANSFER_TOKEN_SECONDS
from hashrange.operations.operation import Request
from hashrange.operations.transactions.idempotency import digest_of
from hashrange.storage.interface import Snapshot
from hashrange.transfer.transfer import Mutation, Transfer, find

TOKEN_MICROS = TRANSFER_TOKEN_SECONDS * 1_000_000


class ClientToken:
    """The token of one request, if it has one."""

    def __init__(self, request: Request, kind: str) -> None:
        self._scope = request.scope.prefix
        self._kind = kind
        self._token: str | None = request.get("ClientToken")
        self._digest = digest_of({name: value for name, value in request.members.items() if name != "ClientToken"})

    @property
    def _key(self) -> bytes:
        return keyspace.transfer_key(self._scope, f"{self._kind}-token", self._token or "")

    def earlier(self, snapshot: Snapshot, now_micros: int, conflict: ClientError) -> Transfer | None:
        """The transfer that the same request has started; `conflict` if the token was used with another one."""
        stored = None if self._token is None else snapshot.get(self._key)
        if stored is None:
            return None
        record = orjson.loads(stored)
        if record["expires_at_micros"] <= now_micros:
            return None
        if record["digest"] != self._digest:
            raise conflict
        return find(snapshot, keyspace.transfer_key(self._scope, self._kind, record["id"]))

    def remembered(self, transfer: Transfer) -> list[Mutation]:
        """What to write so that the request is known when it comes again."""
        if self._token is None:
            return []
        expires_at_micros = transfer.started_at_micros + TOKEN_MICROS
        record = {"id": transfer.id, "digest": self._digest, "expires_at_micros": expires_at_micros}
        return [(self._key, orjson.dumps(record)), (keyspace.expiry_key(expires_at_micros, self._key), b"")]
