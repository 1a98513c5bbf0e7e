"""The operations that are named by a method and a path, with JSON in the body: those of Lambda that feed functions.

Everything DynamoDB has goes through one URL and a header; the dispatcher asks here only about what is left.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote

import orjson

from hashrange.auth.identity import Identity
from hashrange.engine.database import Database
from hashrange.errors import ClientError, InternalServerError, InvalidParameterValueException
from hashrange.http.admission import Admit
from hashrange.http.authorisation import permitted
from hashrange.http.exchange import Exchange
from hashrange.http.large_bodies import require_few_brackets
from hashrange.http.observe import Observer
from hashrange.http.overload import LARGE_BODY_BYTES
from hashrange.http.pending import Pending
from hashrange.operations.operation import Operation, Request, RestOperation
from hashrange.storage.interface import Result

log = logging.getLogger("hashrange.api")

STATUSES = {  # where Lambda has another one than DynamoDB
    "ResourceNotFoundException": 404,
    "AccessDeniedException": 403,
    "ExpiredTokenException": 403,
    "IncompleteSignatureException": 403,
    "InvalidSignatureException": 403,
    "MissingAuthenticationTokenException": 403,
    "UnrecognizedClientException": 403,
}


@dataclass(frozen=True, slots=True)
class Route:
    """An operation with the pattern of its path."""

    method: bytes
    path: re.Pattern[str]
    status: int
    operation: Operation


class RestDoor:
    """Answers an exchange if it is for one of these operations."""

    def __init__(
        self,
        db: Database,
        operations: Callable[[], Sequence[RestOperation]],
        pending: Pending,
        observer: Observer | None = None,
    ) -> None:
        self._db = db
        self._pending = pending
        self._observer = observer
        self._operations = operations
        self._known: list[Route] | None = None

    @property
    def _routes(self) -> list[Route]:
        """Loaded when the first exchange comes that is not for DynamoDB."""
        if self._known is None:
            self._known = [
                Route(each.method.encode(), path_pattern(each.path), each.status, each.operation)
                for each in self._operations()
            ]
        return self._known

    def answers(self, exchange: Exchange, admit: Admit, request_id: str) -> bool:
        """Whether the exchange was for us; then it is answered, now or when its write is done."""
        path, _, query = exchange.url.decode("latin-1").partition("?")
        if path == "/":
            return False
        for route in self._routes:
            match = route.path.fullmatch(path)
            if match is not None and exchange.method == route.method:
                members = {name: unquote(value) for name, value in match.groupdict().items()}
                call = RestCall(exchange, route, request_id, self._observer)
                self._run(call, admit, {**dict(parse_qsl(query)), **members})
                return True
        return False

    def _run(self, call: RestCall, admit: Admit, members: dict[str, Any]) -> None:
        try:
            scope, call.identity = admit(call.exchange, call.route.operation.service)
            call.request = request = Request({**body_of(call.exchange), **members}, scope)
            request = permitted(self._db, call.identity, call.exchange, call.route.operation, request)
            self._pending.finish(call.route.operation.run(self._db, request), call.finish, call.exchange)
        except Exception as error:
            call.fail(error)


def path_pattern(template: str) -> re.Pattern[str]:
    """`/things/{Name}` as a pattern; a slash at the end makes no difference."""
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template) + "/?")


def body_of(exchange: Exchange) -> dict[str, Any]:
    if exchange.method not in (b"POST", b"PUT") or not exchange.body:
        return {}
    if len(exchange.body) > LARGE_BODY_BYTES:
        require_few_brackets(exchange.body)
    try:
        members = orjson.loads(exchange.body)
    except orjson.JSONDecodeError:
        members = None
    if not isinstance(members, dict):
        raise InvalidParameterValueException("Could not parse request body into json.")
    return members


class RestCall:
    """One such call on its way through."""

    __slots__ = ("_observer", "_started", "exchange", "identity", "request", "request_id", "route")

    def __init__(self, exchange: Exchange, route: Route, request_id: str, observer: Observer | None = None) -> None:
        self._observer = observer
        self._started = time.perf_counter()
        self.request: Request | None = None
        self.exchange = exchange
        self.route = route
        self.request_id = request_id
        self.identity: Identity | None = None  # who sent it; None if nobody asks

    def finish(self, result: Result) -> None:
        if result.error is None:
            self.succeed(result.answer)
        else:
            self.fail(result.error)

    def succeed(self, answer: dict[str, Any] | None) -> None:
        self._respond(self.route.status, b"", answer or {}, None)

    def fail(self, error: BaseException) -> None:
        known = error if isinstance(error, ClientError) else self._surprise(error)
        body = {"Type": "User" if known.status < 500 else "Service", "message": known.message, "Message": known.message}
        header = f"x-amzn-ErrorType: {known.code}\r\n".encode()
        self._respond(STATUSES.get(known.code, known.status), header, body, known)

    def _surprise(self, error: BaseException) -> ClientError:
        log.error("unexpected error", exc_info=error, extra={"request_id": self.request_id})
        return InternalServerError("The request processing has failed because of an unknown error")

    def _respond(self, status: int, headers: bytes, body: dict[str, Any], error: ClientError | None) -> None:
        ids = f"Content-Type: application/json\r\nx-amzn-RequestId: {self.request_id}\r\n".encode()
        self.exchange.respond(status, ids + headers, orjson.dumps(body))
        if self._observer is not None:
            name, seconds = self.route.operation.name, time.perf_counter() - self._started
            self._observer.answered(self.exchange, name, self.request, self.identity, error, seconds, self.request_id)
