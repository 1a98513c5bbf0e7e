"""The door's question before an operation runs: may whoever sent this do it?"""

from __future__ import annotations

from hashrange.auth.identity import Identity
from hashrange.engine.database import Database
from hashrange.http.exchange import Exchange
from hashrange.operations.operation import Operation, Request


def permitted(
    db: Database, identity: Identity | None, exchange: Exchange, operation: Operation, request: Request
) -> Request:
    """The request as it may be carried out, or an error. Whoever was not asked who he is may do everything."""
    if identity is None or (identity.is_root and not may_name_others(exchange)):
        return request
    # Policies are loaded with the first request that meets them: most servers have none, and should start at once.
    from hashrange.operations.policies.authorise import Caller, authorise

    caller = Caller(
        identity=identity,
        region=request.scope.region,
        clock=db.clock,
        peer=exchange.peer,
        secure=exchange.secure,
        user_agent=exchange.headers.get(b"user-agent", b"").decode("latin-1"),
    )
    return authorise(db, caller, operation, request)


def may_name_others(exchange: Exchange) -> bool:
    """Whether a request may be about another account, which only an ARN can say. In JSON that may be an escape, too."""
    return b"arn:" in exchange.body or b"\\u" in exchange.body or exchange.url != b"/"
