"""Pages for those who look after a server: `/metrics` for Prometheus, `/health/live` and `/health/ready`.

Live means that the process answers. Ready means that its store can be read, and that a write comes to its end.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping

from hashrange.engine.database import Database
from hashrange.http import observe_prometheus
from hashrange.http.clock_control import is_local
from hashrange.http.exchange import Exchange, Handler, plain_answer
from hashrange.storage.interface import Plan, Result

METRICS_URL = b"/metrics"
LIVE_URL = b"/health/live"
READY_URL = b"/health/ready"
PROMETHEUS = b"Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"

Gauges = Callable[[], Mapping[str, float]]

live = plain_answer(200, "live")


class ReadyPage:
    """Answers when a write has been through the store; one that changes nothing costs no sync."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def __call__(self, exchange: Exchange) -> None:
        def done(result: Result) -> None:
            if result.error is None:
                plain_answer(200, "ready")(exchange)
            else:
                plain_answer(503, "not ready: the store takes no writes")(exchange)

        self._db.store.write(lambda snapshot: Plan(), done)


class MetricsPage:
    """What was counted. With a token, whoever has it may see it; without one, anybody, or only programs on this
    machine where signatures are verified."""

    def __init__(self, db: Database, gauges: Gauges, *, token: str | None, local_only: bool) -> None:
        self._db = db
        self._gauges = gauges
        self._wanted = None if token is None else f"Bearer {token}".encode()
        self._local_only = local_only

    def __call__(self, exchange: Exchange) -> None:
        refusal = self._refusal(exchange)
        if refusal is not None:
            refusal(exchange)
            return
        if exchange.method not in (b"GET", b"HEAD"):
            plain_answer(405, "GET shows the metrics.")(exchange)
            return
        self._db.recorder.flush()
        with self._db.read() as snapshot:
            text = observe_prometheus.page(snapshot, self._gauges())
        exchange.respond(200, PROMETHEUS, text.encode())

    def _refusal(self, exchange: Exchange) -> Handler | None:
        if self._wanted is not None:
            given = exchange.headers.get(b"authorization", b"")
            if hmac.compare_digest(given, self._wanted):
                return None
            return plain_answer(401, "This page needs the token of --metrics-token: Authorization: Bearer TOKEN")
        if self._local_only and not is_local(exchange):
            return plain_answer(403, "From other machines this page needs a token; see --metrics-token.")
        return None
