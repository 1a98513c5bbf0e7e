"""The developer's clock: `GET` and `POST /_hashrange/clock`, on servers started with `--dev-clock`.

    POST {"advance_seconds": 3600}    an hour later
    POST {"at": 1767225600}           the first second of 2026; time goes on from there
    POST {"at": null}                 the machine's own time again

Only this machine may ask, and no web page: time that moves is nothing to leave lying about. The worker that is asked
moves at once; the others look twice a second.
"""

from __future__ import annotations

import logging
import math
from datetime import UTC, datetime
from ipaddress import IPv6Address, ip_address

import orjson

from hashrange.clock import OffsetClock
from hashrange.engine.clock_offset import (
    LATEST_MICROS,
    MICROS,
    OutOfTime,
    advance,
    clock_offset,
    is_behind_log,
    move_to,
    reset,
)
from hashrange.engine.database import Database
from hashrange.http.exchange import Exchange, Handler, plain_answer
from hashrange.storage.interface import Planner, Result

log = logging.getLogger("hashrange.server")

CLOCK_URL = b"/_hashrange/clock"
FOLLOW_SECONDS = 0.5
FOR_OTHERS = (b"origin", b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via")
USAGE = 'Send {"advance_seconds": number} or {"at": epoch seconds or null}.'
BEHIND_LOG = (
    "The clock is behind changes that were logged before it was moved back. Until that time comes again, streams and "
    "reads of the past do not see what is written now."
)

no_clock: Handler = plain_answer(404, "There is no such page. The clock can be moved with hashrange serve --dev-clock.")


class ClockControl:
    """Shows and moves the clock of a database."""

    def __init__(self, db: Database, clock: OffsetClock) -> None:
        self._db = db
        self._clock = clock

    def __call__(self, exchange: Exchange) -> None:
        if not is_local(exchange):
            plain_answer(403, "The clock is moved from the server's own machine only.")(exchange)
        elif exchange.method == b"GET":
            follow(self._db, self._clock)
            self._show(exchange)
        elif exchange.method == b"POST":
            self._move(exchange)
        else:
            plain_answer(405, "GET shows the clock, POST moves it.")(exchange)

    def _move(self, exchange: Exchange) -> None:
        try:
            plan = planned(self._clock, exchange.body)
        except ValueError:
            plain_answer(400, USAGE)(exchange)
            return
        except OutOfTime as error:
            plain_answer(400, str(error))(exchange)
            return

        def done(result: Result) -> None:
            if isinstance(result.error, OutOfTime):
                plain_answer(400, str(result.error))(exchange)
            elif result.error is not None:
                log.error("the clock could not be moved: %s", result.error)
                plain_answer(500, "The clock could not be moved.")(exchange)
            else:
                follow(self._db, self._clock)
                self._show(exchange)

        self._db.store.write(plan, done)

    def _show(self, exchange: Exchange) -> None:
        micros = self._clock.micros()
        answer = {
            "time": datetime.fromtimestamp(micros / MICROS, UTC).isoformat(timespec="milliseconds"),
            "epoch_seconds": micros / MICROS,
            "offset_seconds": self._clock.offset_micros / MICROS,
        }
        with self._db.read() as snapshot:
            if is_behind_log(snapshot, self._clock):
                answer["warning"] = BEHIND_LOG
        exchange.respond(200, b"Content-Type: application/json\r\n", orjson.dumps(answer) + b"\n")


def is_local(exchange: Exchange) -> bool:
    """Whether a program on this machine asks. A page in a browser runs here too, and a proxy may; but both say so."""
    if not exchange.headers.keys().isdisjoint(FOR_OTHERS):
        return False
    try:
        address = ip_address(exchange.peer)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_loopback


def planned(clock: OffsetClock, body: bytes) -> Planner:
    """What a request wants done to the clock; ValueError if it is not one, OutOfTime if it cannot be done."""
    members = orjson.loads(body)
    if not isinstance(members, dict) or len(members) != 1:
        raise ValueError
    if "advance_seconds" in members:
        return advance(clock, micros_of(members["advance_seconds"]))
    if "at" not in members:
        raise ValueError
    return reset if members["at"] is None else move_to(clock, micros_of(members["at"]))


def micros_of(seconds: object) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not math.isfinite(seconds):
        raise ValueError
    if abs(seconds) > LATEST_MICROS // MICROS:
        raise OutOfTime
    return round(seconds * MICROS)


def follow(db: Database, clock: OffsetClock) -> None:
    """Take over the offset that the store has."""
    with db.read() as snapshot:
        clock.offset_micros = clock_offset(snapshot)
