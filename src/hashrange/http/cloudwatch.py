"""CloudWatch's door: its operations on the same endpoint, in whichever of its three protocols a client speaks.

Everything DynamoDB has goes through the dispatcher, which asks here about what it does not know.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from hashrange.auth.identity import Identity
from hashrange.engine.database import Database
from hashrange.errors import (
    ClientError,
    InternalServerError,
    SerializationException,
    UnknownOperationException,
    ValidationException,
)
from hashrange.http.admission import Admit
from hashrange.http.authorisation import permitted
from hashrange.http.cloudwatch_query import FORM, QueryWire, form_of
from hashrange.http.cloudwatch_wires import CBOR_PATH, JSON_PREFIX, CborWire, JsonWire, Wire, fault, query_code
from hashrange.http.exchange import Exchange
from hashrange.http.observe import Observer
from hashrange.http.pending import Pending
from hashrange.operations.operation import Operation, Request
from hashrange.storage.interface import Result, StoreError
from hashrange.validation.schema import schema_of
from hashrange.validation.shape import load

log = logging.getLogger("hashrange.api")

SERVICE = "monitoring"  # in the scope of signatures
BODY_BYTES_MAX = 1024 * 1024  # "Each PutMetricData request is limited to 1 MB" (API reference); others are shorter
CBOR, JSON, QUERY = CborWire(), JsonWire(), QueryWire()


def spoken(exchange: Exchange) -> tuple[Wire, str] | None:
    """The protocol of a request for CloudWatch and the operation that it names; None if it is for somebody else."""
    if exchange.method != b"POST":
        return None
    path = exchange.url.partition(b"?")[0].decode("latin-1")
    if path.startswith(CBOR_PATH):
        return CBOR, path.removeprefix(CBOR_PATH)
    target = exchange.headers.get(b"x-amz-target", b"").decode("latin-1")
    if target.startswith(JSON_PREFIX):
        return JSON, target.removeprefix(JSON_PREFIX)
    if path == "/" and exchange.headers.get(b"content-type", b"").startswith(FORM) and b"Action=" in exchange.body:
        return QUERY, form_of(exchange.body[:BODY_BYTES_MAX]).get("Action", "")
    return None


class CloudWatchDoor:
    """Answers an exchange if it is for CloudWatch."""

    def __init__(
        self,
        db: Database,
        contents: Mapping[str, Callable[[], Operation]],
        pending: Pending,
        observer: Observer | None = None,
    ) -> None:
        self._db = db
        self._pending = pending
        self._observer = observer
        self._contents = contents
        self._operations: dict[str, Operation] = {}  # those that were asked for

    def answers(self, exchange: Exchange, admit: Admit, request_id: str) -> bool:
        """Whether the exchange was for us; then it is answered, now or when its write is done."""
        try:
            asked = spoken(exchange)
        except SerializationException:
            asked = QUERY, ""
        if asked is None:
            return False
        wire, name = asked
        call = CloudWatchCall(self._observer, exchange, wire, name, request_id)
        try:
            self._run(call, admit)
        except Exception as error:
            call.fail(error)
        return True

    def _run(self, call: CloudWatchCall, admit: Admit) -> None:
        operation = self._operation(call.name)
        scope, call.identity = admit(call.exchange, SERVICE)
        if len(call.exchange.body) > BODY_BYTES_MAX:
            raise ValidationException(f"The request is longer than {BODY_BYTES_MAX} bytes.")
        schema = schema_of("cloudwatch")
        members = call.wire.members(schema, schema.input_of(operation.name), call.exchange.body)
        shape = load("cloudwatch")[operation.name]
        if not shape.plausible(members):
            members = shape.explain(members)
        if operation.name == "GetMetricData":
            members["MaxDatapoints"] = min(members.get("MaxDatapoints", math.inf), call.wire.points_max)
        call.request = request = Request(members, scope)
        if call.identity is not None:
            call.request = request = permitted(self._db, call.identity, call.exchange, operation, request)
        self._pending.finish(operation.run(self._db, request), call.finish, call.exchange)

    def _operation(self, name: str) -> Operation:
        known = self._operations.get(name)
        if known is None:
            find = self._contents.get(name)
            if find is None:
                raise UnknownOperationException(f"Could not find operation {name[:100]} for version 2010-08-01")
            known = self._operations[name] = find()
        return known


class CloudWatchCall:
    """One such call on its way through."""

    def __init__(self, observer: Observer | None, exchange: Exchange, wire: Wire, name: str, request_id: str) -> None:
        self._observer = observer
        self._started = time.perf_counter()
        self.exchange = exchange
        self.wire = wire
        self.name = name
        self.request_id = request_id
        self.request: Request | None = None
        self.identity: Identity | None = None

    def finish(self, result: Result) -> None:
        """A write met its fate, or a long read its end."""
        if result.error is None:
            self.succeed(result.answer)
        else:
            self.fail(result.error)

    def succeed(self, answer: dict[str, Any] | None) -> None:
        body = self.wire.answer(schema_of("cloudwatch"), self.name, answer or {}, self.request_id)
        self._respond(200, b"", body, None)

    def fail(self, error: BaseException) -> None:
        known = error if isinstance(error, ClientError) else self._surprise(error)
        code, status = query_code(known)
        headers = f"x-amzn-query-error: {code};{fault(known)}\r\nx-amzn-ErrorType: {known.code}\r\n".encode()
        self._respond(status, headers, self.wire.error(known, self.request_id), known)

    def _surprise(self, error: BaseException) -> ClientError:
        if isinstance(error, StoreError):
            log.error("the store could not: %s", error, extra={"request_id": self.request_id})
        else:
            log.error("unexpected error", exc_info=error, extra={"request_id": self.request_id})
        return InternalServerError("The request processing has failed because of an unknown error")

    def _respond(self, status: int, headers: bytes, body: bytes, error: ClientError | None) -> None:
        protocol = b"smithy-protocol: rpc-v2-cbor\r\n" if self.wire is CBOR else b""
        lines = b"Content-Type: %b\r\nx-amzn-RequestId: %b\r\n" % (self.wire.content_type, self.request_id.encode())
        self.exchange.respond(status, lines + protocol + headers, body)
        seconds = time.perf_counter() - self._started
        if self._observer is not None:
            self._observer.answered(
                self.exchange, self.name, self.request, self.identity, error, seconds, self.request_id
            )
        if log.isEnabledFor(logging.DEBUG):
            extra = {"request_id": self.request_id, "peer": self.exchange.peer, "ms": round(seconds * 1000, 3)}
            log.debug("%s %s", self.name, "ok" if error is None else error.code, extra=extra)
