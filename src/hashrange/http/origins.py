"""Which web pages may call the server.

A browser lets every page it shows send requests to this machine, and a server with `--auth open` asks nobody who they
are. So only pages that this machine serves itself may call such a server, and those that its operator names. A page
cannot hide: the browser says with every such request, in `Origin`, where the page came from. That also holds for a page
whose host name was made to point here after it was loaded. Programs that are no browsers send no origin.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from hashrange.http.exchange import Exchange, plain_answer

log = logging.getLogger("hashrange.http")

ALL = "*"
REFUSAL = "Pages of other machines may not call this server. It can be started with --allow-origin to let them."
TOLD_MAX = 20

Pages = Callable[[bytes], bool]
"""Says of an origin whether its pages may call."""


def pages_of(allowed: Iterable[str]) -> Pages | None:
    """Pages of this machine and of these origins; None for all pages."""
    origins = frozenset(origin.rstrip("/").lower() for origin in allowed)
    if ALL in origins:
        return None
    return lambda origin: is_of_this_machine(text := origin.decode("latin-1").lower()) or text in origins


def is_of_this_machine(origin: str) -> bool:
    try:
        host = urlsplit(origin).hostname or ""
    except ValueError:  # brackets with anything but an address in them
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class PageGuard:
    """Refuses pages that may not call, and tells the operator about the first ones."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._told: set[bytes] = set()

    def refuses(self, exchange: Exchange) -> bool:
        """Whether the exchange was refused, and answered, because of the page that made it."""
        origin = exchange.headers[b"origin"]
        if self._pages(origin):
            return False
        if origin not in self._told and len(self._told) < TOLD_MAX:
            self._told.add(origin)
            log.warning("refused a page of %s; --allow-origin lets it call", origin.decode("latin-1"))
        plain_answer(403, REFUSAL)(exchange)
        return True
