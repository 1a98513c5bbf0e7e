"""Pages for those who look after a server: `/metrics` for Prometheus, `/health/live` and `/health/ready`.

Live means that the process answers. Ready means that its store can be read, and that a write comes to its end.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable, Mapping

from hashrange.engine.database import Database
from hashrange.errors import ServiceUnavailable
from hashrange.http import observe_prometheus
from hashrange.http.clock_control import is_local
from hashrange.http.exchange import Exchange, Handler, plain_answer
from hashrange.http.observe_workers import own_record_again
from hashrange.http.pending import Pending
from hashrange.operations.operation import in_parts
from hashrange.storage.interface import Result

log = logging.getLogger("hashrange.metrics")

METRICS_URL = b"/metrics"
LIVE_URL = b"/health/live"
READY_URL = b"/health/ready"
PROMETHEUS = b"Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"

Gauges = Callable[[], Mapping[str, float]]

live = plain_answer(200, "live")


class ReadyPage:
    """Answers when a write has been through the store, to the disk: one that changes nothing would succeed on a full
    one. The same write serves all who ask before it is done."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._asking: list[Exchange] = []

    def __call__(self, exchange: Exchange) -> None:
        self._asking.append(exchange)
        if len(self._asking) == 1:
            self._db.store.write(own_record_again, self._done)

    def _done(self, result: Result) -> None:
        asking, self._asking = self._asking, []
        ready = result.error is None
        answer = plain_answer(200, "ready") if ready else plain_answer(503, "not ready: the store takes no writes")
        for exchange in asking:
            answer(exchange)


class MetricsPage:
    """What was counted. With a token, whoever has it may see it; without one, anybody, or only programs on this
    machine where signatures are verified."""

    def __init__(self, db: Database, gauges: Gauges, pending: Pending, *, token: str | None, local_only: bool) -> None:
        self._db = db
        self._gauges = gauges
        self._pending = pending
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

        def done(result: Result) -> None:
            if result.error is None:
                exchange.respond(200, PROMETHEUS, result.answer["page"].encode())
            else:
                log.error("the page of metrics could not be made", exc_info=result.error)
                plain_answer(500, "The metrics cannot be read.")(exchange)

        try:
            self._pending.finish(
                in_parts(self._db, observe_prometheus.page(self._db.recorder, self._gauges())), done, exchange
            )
        except ServiceUnavailable as error:
            plain_answer(503, error.message or "")(exchange)

    def _refusal(self, exchange: Exchange) -> Handler | None:
        if self._wanted is not None:
            given = exchange.headers.get(b"authorization", b"")
            if hmac.compare_digest(given, self._wanted):
                return None
            return plain_answer(401, "This page needs the token of --metrics-token: Authorization: Bearer TOKEN")
        if self._local_only and not is_local(exchange):
            return plain_answer(403, "From other machines this page needs a token; see --metrics-token.")
        return None
