"""The ways in which clients speak to CloudWatch: JSON (boto3, the AWS CLI), CBOR (Smithy's RPC v2, the first in the
service's own model) and, in `cloudwatch_query`, forms that are answered in XML.

A wire reads the members of a request, with timestamps as seconds since the epoch, and writes answers and errors.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Protocol

import orjson

from hashrange.errors import ClientError, SerializationException
from hashrange.validation.schema import Schema, Shape

TARGET = "GraniteServiceVersion20100801"
CBOR_PATH = f"/service/{TARGET}/operation/"
JSON_PREFIX = f"{TARGET}."
NAMESPACE = "com.amazonaws.cloudwatch.v2010_08_01"
VALUES_MAX = 200_000  # in one request; a megabyte has hardly more
GREATEST = {"timestamp": 10**15, "double": sys.float_info.max, "integer": 2**31 - 1, "long": 2**63 - 1}

# What errors are called by the service's first protocol, which newer clients still go by, and with which status.
QUERY_CODES = {
    "ValidationException": ("ValidationError", 400),
    "SerializationException": ("MalformedInput", 400),
    "UnknownOperationException": ("InvalidAction", 400),
    "InvalidParameterValueException": ("InvalidParameterValue", 400),
    "InvalidParameterCombinationException": ("InvalidParameterCombination", 400),
    "MissingRequiredParameterException": ("MissingParameter", 400),
    "InvalidFormatFault": ("InvalidFormat", 400),
    "LimitExceededFault": ("LimitExceeded", 400),
    "ResourceNotFound": ("ResourceNotFound", 404),
    "ResourceNotFoundException": ("ResourceNotFoundException", 404),
    "InternalServerError": ("InternalServiceError", 500),
    "ServiceUnavailable": ("ServiceUnavailable", 503),
    "MissingAuthenticationTokenException": ("MissingAuthenticationToken", 403),
    "IncompleteSignatureException": ("IncompleteSignature", 400),
    "InvalidSignatureException": ("SignatureDoesNotMatch", 403),
    "UnrecognizedClientException": ("InvalidClientTokenId", 403),
    "ExpiredTokenException": ("ExpiredToken", 403),
    "AccessDeniedException": ("AccessDenied", 403),
}


class Wire(Protocol):
    """One way to read requests and to write answers."""

    content_type: bytes
    points_max: int  # what can be written in some milliseconds; there is another page for the rest

    def members(self, schema: Schema, shape: Shape, body: bytes) -> dict[str, Any]: ...

    def answer(self, schema: Schema, operation: str, answer: dict[str, Any], request_id: str) -> bytes: ...

    def error(self, error: ClientError, request_id: str) -> bytes: ...


def query_code(error: ClientError) -> tuple[str, int]:
    return QUERY_CODES.get(error.code, (error.code, error.status))


def fault(error: ClientError) -> str:
    return "Sender" if error.status < 500 else "Receiver"


def typed(error: ClientError) -> dict[str, Any]:
    """The body of an error in JSON and CBOR."""
    return {"__type": f"{NAMESPACE}#{error.code}", "message": error.message or ""}


class JsonWire:
    """JSON 1.0, the operation in the header X-Amz-Target."""

    content_type = b"application/x-amz-json-1.0"
    points_max = 100_800

    def members(self, schema: Schema, shape: Shape, body: bytes) -> dict[str, Any]:
        try:
            given = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise SerializationException("The request is not JSON") from None
        return read(schema, shape, given)

    def answer(self, schema: Schema, operation: str, answer: dict[str, Any], request_id: str) -> bytes:
        return orjson.dumps(answer)

    def error(self, error: ClientError, request_id: str) -> bytes:
        return orjson.dumps(typed(error))


class CborWire:
    """CBOR, the operation in the path. The library is loaded by the first client that speaks it."""

    content_type = b"application/cbor"
    points_max = 10_000

    def members(self, schema: Schema, shape: Shape, body: bytes) -> dict[str, Any]:
        import cbor2

        try:
            given = cbor2.loads(body) if body else {}
        except (cbor2.CBORDecodeError, ValueError, OverflowError, RecursionError):
            raise SerializationException("The request is not CBOR") from None
        return read(schema, shape, given)

    def answer(self, schema: Schema, operation: str, answer: dict[str, Any], request_id: str) -> bytes:
        import cbor2

        shape = schema.output_of(operation)
        content = {} if shape is None else Conversion(schema, _to_cbor, math.inf).converted(shape, answer)
        encoded: bytes = cbor2.dumps(content)
        return encoded

    def error(self, error: ClientError, request_id: str) -> bytes:
        import cbor2

        encoded: bytes = cbor2.dumps(typed(error))
        return encoded


def read(schema: Schema, shape: Shape, given: Any) -> dict[str, Any]:
    """The members of a request."""
    if not isinstance(given, dict):
        raise SerializationException("The request is not a structure")
    members: dict[str, Any] = Conversion(schema, _read).converted(shape, given)
    return members


def _read(kind: str, value: Any) -> Any:
    """A scalar of a request. Neither JSON nor CBOR keeps numbers within what can be computed with."""
    if kind == "timestamp" and isinstance(value, datetime):
        value = value.timestamp()
    greatest = GREATEST.get(kind)
    if greatest is None or not isinstance(value, int | float):
        return value
    if kind == "timestamp" and abs(value) != math.inf and value == value:
        return max(-greatest, min(value, greatest))  # before or after all that there can be
    if not -greatest <= value <= greatest:
        raise SerializationException(f"A {kind} is out of range")
    return value


def _to_cbor(kind: str, value: Any) -> Any:
    if kind == "double":
        return float(value)
    if kind == "timestamp":
        import cbor2

        return cbor2.CBORTag(1, float(value))
    return value


class Conversion:
    """Converts every scalar of a value by its kind. What does not fit its shape is left for others to refuse.

    CBOR can say of a value that it is the same as another one, so a short text may stand for very many values.
    """

    def __init__(self, schema: Schema, scalar: Callable[[str, Any], Any], values_max: float = VALUES_MAX) -> None:
        self._schema = schema
        self._scalar = scalar
        self._left = values_max

    def converted(self, shape: Shape, value: Any) -> Any:
        self._count(1)
        if shape.kind == "structure" and isinstance(value, dict):
            known = ((name, shape.members.get(name), part) for name, part in value.items())
            return {
                name: self.converted(self._schema.shape(member), part)
                for name, member, part in known
                if member is not None
            }
        if shape.kind in ("list", "map"):
            return self._parts(shape, value)
        return self._scalar(shape.kind, value)

    def _count(self, values: int) -> None:
        self._left -= values
        if self._left < 0:
            raise SerializationException("The request has too many values")

    def _parts(self, shape: Shape, value: Any) -> Any:
        assert shape.element is not None
        element = self._schema.shape(shape.element)
        if isinstance(value, list):
            if element.kind not in ("structure", "list", "map"):  # there may be very many
                self._count(len(value))
                return [self._scalar(element.kind, part) for part in value]
            return [self.converted(element, part) for part in value]
        if isinstance(value, dict):
            return {name: self.converted(element, part) for name, part in value.items()}
        return value


def iso_text(seconds: float) -> str:
    """A timestamp as XML has it."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")[: -len("+00:00")] + "Z"
