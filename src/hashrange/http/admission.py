"""Who may come in: with `--auth verify`, whoever's signature an authenticator recognises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hashrange.auth.identity import Identity
from hashrange.engine.scope import Scope
from hashrange.errors import AccessDeniedException, ClientError
from hashrange.http.exchange import Exchange, Handler, plain_answer

Admit = Callable[[Exchange, str], tuple[Scope, Identity | None]]
"""The account and region that a request for a service addresses, and who sent it; None if nobody asks who."""


class Authenticator(Protocol):
    def identify(self, request: Exchange, service: str) -> tuple[Identity, str]:
        """Whoever signed a request for a service, and the region it is for; an error if nobody did who may."""
        ...


def for_full_access(handler: Handler, authenticator: Authenticator | None) -> Handler:
    """A page of our own that only holders of keys with full access may see, if signatures are verified at all."""
    if authenticator is None:
        return handler

    def admit(exchange: Exchange) -> None:
        try:
            identity, _ = authenticator.identify(exchange, "dynamodb")
            if not identity.is_root:
                raise AccessDeniedException("This page is for access keys with full access.")
        except ClientError as error:
            plain_answer(403, f"{error.code}: {error.message}")(exchange)
            return
        handler(exchange)

    return admit
