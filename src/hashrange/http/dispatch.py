"""Turns an HTTP exchange into an API call and its outcome into an answer.

The order of the checks is the service's own: method and content type, JSON, target, authentication, member types,
constraints, permission, and then whatever the operation itself checks.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from hashrange.auth.credentials import credential_of
from hashrange.auth.identity import Identity
from hashrange.engine.database import Database
from hashrange.engine.scope import Scope, scope_of
from hashrange.errors import (
    ClientError,
    InternalServerError,
    Oversized,
    SerializationException,
    UnknownOperationException,
    ValidationException,
    Wording,
)
from hashrange.http.admission import Authenticator
from hashrange.http.authorisation import permitted
from hashrange.http.exchange import Exchange, Handler
from hashrange.http.large_bodies import require_few_brackets
from hashrange.http.observe import Observer
from hashrange.http.origins import PageGuard
from hashrange.http.overload import LARGE_BODY_BYTES
from hashrange.http.pending import Pending
from hashrange.http.request_id import request_ids
from hashrange.http.side_doors import SideDoor
from hashrange.operations.operation import Answer, LongRead, Operation, Request, Write
from hashrange.storage.interface import Result, StoreError
from hashrange.validation.shape import InputShape
from hashrange.values.attribute import MalformedValue

log = logging.getLogger("hashrange.api")

JSON_TYPES = (b"application/x-amz-json-1.0", b"application/json", b"application/x-amz-json-1.1")
PLAIN_ERRORS = ("application-autoscaling",)  # services that name an error without a namespace, and have a Message
UNKNOWN_OPERATION = b"<UnknownOperationException/>\n"
CORS = (
    b"Access-Control-Allow-Origin: *\r\n"
    b"Access-Control-Expose-Headers: x-amzn-RequestId,x-amzn-ErrorType,x-amz-request-id,x-amz-id-2,"
    b"x-amzn-ErrorMessage,Date,x-amz-crc32\r\n"
)
PREFLIGHT = CORS + (
    b"Access-Control-Allow-Methods: GET, HEAD, PUT, POST, DELETE, OPTIONS\r\nAccess-Control-Max-Age: 172800\r\n"
)
ACCOUNT_DIGITS = 12


class Target:
    """An operation as the door meets it: with the shape of its requests."""

    __slots__ = ("explain", "operation", "plausible")

    def __init__(self, operation: Operation, shape: InputShape) -> None:
        self.operation = operation
        self.plausible = shape.plausible
        self.explain = shape.explain


class Dispatcher:
    """Answers every exchange that reaches the server."""

    def __init__(
        self,
        db: Database,
        contents: Mapping[bytes, Callable[[], Target]],
        *,
        account: str,
        region: str,
        wording: Wording = Wording.NEWER,
        controls: Mapping[bytes, Handler] | None = None,
        rest: SideDoor | None = None,
        authenticator: Authenticator | None = None,
        pages: PageGuard | None = None,
        pending: Pending | None = None,
        observer: Observer | None = None,
    ) -> None:
        self._db = db
        self._contents = contents
        self._targets: dict[bytes, Target] = {}  # those that were asked for
        self._account = account
        self._region = region
        self._wording = wording
        self._controls = dict(controls or {})  # our own pages, by their URL
        self._rest = rest
        self._authenticator = authenticator  # None: any credentials will do
        self._pages = pages  # None: any web page may call
        pending = pending or Pending(db.store)
        self._writes = pending.writes
        self._long_reads = pending.long_reads
        self.observer = observer  # None: nothing is written down
        self._request_id = request_ids().__next__
        self._own_scope = scope_of(account, region)  # of requests that never came to address one

    def __call__(self, exchange: Exchange) -> None:
        if b"origin" in exchange.headers and self._pages is not None and self._pages.refuses(exchange):
            return
        control = self._controls.get(exchange.url)
        if control is not None:
            control(exchange)
            return
        content_type = exchange.headers.get(b"content-type", b"")
        if exchange.method != b"POST" or not content_type.startswith(JSON_TYPES):
            self._other(exchange)
            return
        call = Call(self, exchange, content_type, self._request_id())
        try:
            self._run(call)
        except Exception as error:
            call.fail(error)

    def _run(self, call: Call) -> None:
        """The steps of a call, in the order in which the service finds fault with them."""
        exchange = call.exchange
        name = exchange.headers.get(b"x-amz-target", b"")
        target = self._targets.get(name) or self._find(name)
        if target is None and self._is_elsewhere(exchange):
            return
        admitted = self._admit_large(call, target) if len(exchange.body) > LARGE_BODY_BYTES else None
        try:
            members = orjson.loads(exchange.body)
        except orjson.JSONDecodeError:
            raise SerializationException() from None
        if target is None:
            raise UnknownOperationException()
        call.target = target
        scope, call.identity = admitted or self._admit(exchange, target.operation.service)
        if type(members) is not dict:
            raise SerializationException()
        answer = self._answer(call, target, members, scope)
        if answer is None or type(answer) is dict:
            call.succeed(answer)
        elif isinstance(answer, Write):
            self._writes.write(answer.plan, call.finish, exchange.body)
        else:
            assert isinstance(answer, LongRead)
            self._long_reads.start(answer, call.finish, exchange)

    def _answer(self, call: Call, target: Target, members: dict[str, Any], scope: Scope) -> Answer:
        """Check the members of a request, then its permission, and have the operation done."""
        plausible = target.plausible(members)
        if not plausible:
            members = target.explain(members)
        try:
            call.request = request = Request(members, scope)
            if call.identity is not None:
                call.request = request = permitted(self._db, call.identity, call.exchange, target.operation, request)
            return target.operation.run(self._db, request)
        except ValidationException as error:
            # A member of the wrong type speaks before any other error; only now is it worth looking for one.
            if plausible and not isinstance(error, Oversized):
                target.explain(members)
            raise
        except MalformedValue:
            # Either there is such a member, or it can be converted: {"BOOL": "true"} is a boolean.
            call.request = Request(target.explain(members), scope)
            return self._run_converted(call, target, call.request)

    def _is_elsewhere(self, exchange: Exchange) -> bool:
        """Whether a request that names no operation of ours was for another door, which has answered it then."""
        return self._rest is not None and self._rest.answers(exchange, self._admit, self._request_id())

    def _admit_large(self, call: Call, target: Target | None) -> tuple[Scope, Identity | None] | None:
        """Large bodies take long to parse, which no stranger should have us do: here it is asked first who sends one,
        where that is asked at all. What would fill our memory is not parsed for anybody."""
        admitted = None
        if self._authenticator is not None:
            if target is None:
                raise UnknownOperationException()
            call.target = target
            admitted = self._admit(call.exchange, target.operation.service)
        require_few_brackets(call.exchange.body)
        return admitted

    def _find(self, name: bytes) -> Target | None:
        """An operation that is asked for the first time."""
        load = self._contents.get(name)
        if load is None:
            return None
        target = self._targets[name] = load()
        return target

    def _run_converted(self, call: Call, target: Target, request: Request) -> Answer:
        try:
            request = permitted(self._db, call.identity, call.exchange, target.operation, request)
            call.request = request
            return target.operation.run(self._db, request)
        except MalformedValue:
            raise SerializationException() from None

    def _admit(self, exchange: Exchange, service: str) -> tuple[Scope, Identity | None]:
        """The account and region that a request addresses, and who sent it.

        The account is that of the access key; where keys are not looked at, one of twelve digits names its account.
        """
        if self._authenticator is not None:
            identity, region = self._authenticator.identify(exchange, service)
            return scope_of(identity.account, region), identity
        credential = credential_of(exchange.url, exchange.headers)
        key = credential.access_key
        account = key if len(key) == ACCOUNT_DIGITS and key.isdigit() else self._account
        return scope_of(account, credential.region or self._region), None

    def _other(self, exchange: Exchange) -> None:
        """Everything that is not an API call: health checks, CORS preflights, strangers."""
        if self._rest is not None and self._rest.answers(exchange, self._admit, self._request_id()):
            return
        cors = CORS if b"origin" in exchange.headers else b""
        ids = b"x-amzn-RequestId: " + self._request_id().encode() + b"\r\n"
        if exchange.method == b"OPTIONS":
            asked = exchange.headers.get(b"access-control-request-headers", b"*")
            allowed = b"Access-Control-Allow-Headers: " + asked + b"\r\n"
            exchange.respond(200, ids + PREFLIGHT + allowed, b"")
        elif exchange.method == b"GET":
            health = f"healthy: dynamodb.{self._region}.amazonaws.com "
            exchange.respond(200, ids + cors + b"Content-Type: text/plain\r\n", health.encode())
        else:
            exchange.respond(404, ids + cors, UNKNOWN_OPERATION)

    def note_failure(self, operation: str, request: Request | None, error: ClientError) -> None:
        """A call of another service has failed. That is none of DynamoDB's errors."""
        scope = self._own_scope if request is None else request.scope
        self._db.recorder.note(scope, "", ".Errors", 1, {"Operation": operation, "Code": error.code})

    def settle(self, operation: str, request: Request | None, error: ClientError | None, seconds: float) -> None:
        """A call is over: take what it used from the capacity, and count it."""
        db = self._db
        if request is None:
            db.recorder.settle(operation, self._own_scope, None, error, seconds)
            return
        usage = request.usage
        if usage.drawn:
            db.ledger.settle(usage)
        db.recorder.settle(operation, request.scope, usage, error, seconds)

    def error_answer(self, error: ClientError, operation: Operation | None) -> tuple[int, bytes]:
        """The one place where an error becomes the body that clients read."""
        envelope = operation is not None and operation.envelope
        plain = operation is not None and operation.service in PLAIN_ERRORS
        kind = error.code if plain else f"{error.namespace}#{error.code}"
        body: dict[str, Any] = {"__type": kind, **error.members}
        text = error.text(self._wording, envelope=envelope)
        if text is not None:
            body["Message" if plain or error.capital_message or error.members else "message"] = text
        return error.status, orjson.dumps(body)


class Call:
    """One API call on its way through: knows how to answer its exchange, whichever way it ends."""

    __slots__ = ("_content_type", "_dispatcher", "_request_id", "_started", "exchange", "identity", "request", "target")

    def __init__(self, dispatcher: Dispatcher, exchange: Exchange, content_type: bytes, request_id: str) -> None:
        self._dispatcher = dispatcher
        self._content_type = content_type
        self._request_id = request_id
        self._started = time.perf_counter()
        self.exchange = exchange
        self.target: Target | None = None
        self.identity: Identity | None = None  # who sent it; None if nobody asks
        self.request: Request | None = None

    def finish(self, result: Result) -> None:
        """A write met its fate."""
        if result.error is None:
            self.succeed(result.answer)
        else:
            self.fail(result.error)

    def succeed(self, answer: dict[str, Any] | None) -> None:
        self._respond(200, b"" if answer is None else orjson.dumps(answer), None)

    def fail(self, error: BaseException) -> None:
        client_error = error if isinstance(error, ClientError) else self._surprise(error)
        operation = None if self.target is None else self.target.operation
        status, body = self._dispatcher.error_answer(client_error, operation)
        self._respond(status, body, client_error)

    def _surprise(self, error: BaseException) -> ClientError:
        """What is nobody's fault but ours is told to the log, not to the client."""
        if isinstance(error, StoreError):
            log.error("the store could not: %s", error, extra={"request_id": self._request_id})
        else:
            log.error("unexpected error", exc_info=error, extra={"request_id": self._request_id})
        return InternalServerError("The request processing has failed because of an unknown error")

    def _respond(self, status: int, body: bytes, error: ClientError | None) -> None:
        headers = b"Content-Type: %b\r\nx-amzn-RequestId: %b\r\n" % (self._content_type, self._request_id.encode())
        if b"origin" in self.exchange.headers:
            headers += CORS
        self.exchange.respond(status, headers, body)
        seconds = time.perf_counter() - self._started
        name = "-" if self.target is None else self.target.operation.name
        if error is not None and self.target is not None and self.target.operation.service in PLAIN_ERRORS:
            self._dispatcher.note_failure(name, self.request, error)
        else:
            self._dispatcher.settle(name, self.request, error, seconds)
        observer = self._dispatcher.observer
        if observer is not None:
            observer.answered(self.exchange, name, self.request, self.identity, error, seconds, self._request_id)
        if log.isEnabledFor(logging.DEBUG):
            extra = {"request_id": self._request_id, "peer": self.exchange.peer, "ms": round(seconds * 1000, 3)}
            log.debug("%s %s", name, "ok" if error is None else error.code, extra=extra)
