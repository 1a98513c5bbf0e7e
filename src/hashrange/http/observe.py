"""What an operator can have written down about requests: those that were slow, and those that changed or were denied
something.

A slow request is a line of the logger `hashrange.slow`. The audit log is a JSON object on each line, by the logger
`hashrange.audit`: every call of the control plane, and every call that was denied. Neither ever has what is in items.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from hashrange.auth.credentials import credential_of
from hashrange.auth.identity import Identity
from hashrange.clock import Clock
from hashrange.engine.usage import Usage
from hashrange.errors import ClientError
from hashrange.http.exchange import Exchange
from hashrange.operations.operation import Request

slow_log = logging.getLogger("hashrange.slow")
audit_log = logging.getLogger("hashrange.audit")

DATA_PLANE = frozenset(
    (
        "GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem",
        "TransactGetItems", "TransactWriteItems", "ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction",
        "GetRecords", "GetShardIterator", "DescribeStream", "ListStreams", "GetMetricData", "GetMetricStatistics",
        "ListMetrics", "PutMetricData",
    )
)  # fmt: skip
DENIED = frozenset(
    (
        "AccessDeniedException", "ExpiredTokenException", "IncompleteSignatureException", "InvalidSignatureException",
        "MissingAuthenticationTokenException", "UnrecognizedClientException",
    )
)  # fmt: skip
NAME_CHARACTERS_MAX = 255
ARN_CHARACTERS_MAX = 2048
NAMES_MAX = 100
RESOURCES = (
    "TableName", "TableArn", "ResourceArn", "ResourceARN", "StreamArn", "BackupArn", "BackupName", "ExportArn",
    "ImportArn", "SourceTableName", "SourceTableArn", "TargetTableName", "GlobalTableName", "ResourceId", "AlarmName",
    "AlarmNames", "EventSourceArn", "UUID",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ObserveSettings:
    """What is written down."""

    slow_seconds: float = math.inf
    audit: bool = False
    metrics_token: str | None = None  # what /metrics asks for

    @property
    def looks_at_requests(self) -> bool:
        return self.audit or self.slow_seconds != math.inf


class Observer:
    """Looks at every call when it is over. There is none unless something is to be written down."""

    def __init__(self, settings: ObserveSettings, clock: Clock) -> None:
        self._slow_seconds = settings.slow_seconds
        self._audit = settings.audit
        self._clock = clock

    def answered(
        self,
        exchange: Exchange,
        operation: str,
        request: Request | None,
        identity: Identity | None,
        error: ClientError | None,
        seconds: float,
        request_id: str,
    ) -> None:
        if seconds >= self._slow_seconds:
            extra = {"request_id": request_id, "ms": round(seconds * 1000, 3)}
            slow_log.warning(slow_text(operation, request, error), extra=extra)
        if self._audit and (operation not in DATA_PLANE or is_denied(request, error)):
            line = {
                "time": self._clock.seconds(),
                "request_id": request_id,
                **sender_of(exchange, identity),
                "peer": exchange.peer,
                "operation": operation[:NAME_CHARACTERS_MAX],
                **({} if request is None else place_of(request)),
                "outcome": "ok" if error is None else error.code,
            }
            audit_log.info(orjson.dumps(line).decode())


def is_denied(request: Request | None, error: ClientError | None) -> bool:
    """Whether a call was denied, or a part of it: an action of a transaction, a statement of a batch."""
    if error is None:
        return request is not None and bool(request.refused)
    reasons = error.members.get("CancellationReasons") or ()
    return error.code in DENIED or any(reason["Code"] == "AccessDenied" for reason in reasons)


def slow_text(operation: str, request: Request | None, error: ClientError | None) -> str:
    """The operation, its tables and the units that it took."""
    outcome = "ok" if error is None else error.code
    usage = Usage() if request is None else request.usage
    tables = ",".join(dict.fromkeys(use.table.name for use in usage.uses)) or "-"
    units = sum(use.consumed.total for use in usage.uses)
    return f"{operation[:NAME_CHARACTERS_MAX]} {outcome} table={tables} units={units:g}"


def sender_of(exchange: Exchange, identity: Identity | None) -> dict[str, Any]:
    """Who has sent a request; where signatures are not verified, who it claims to be."""
    if identity is not None:
        return {"access_key_id": identity.access_key_id, "identity": identity.arn}
    try:
        claimed = credential_of(exchange.url, exchange.headers).access_key
    except ClientError:
        claimed = ""
    return {"access_key_id": claimed[:128], "identity": None}


def place_of(request: Request) -> dict[str, Any]:
    """The account, the region and the thing in it that a request is about."""
    members: Mapping[str, Any] = request.members
    resource = next((members[name] for name in RESOURCES if isinstance(members.get(name), str | list)), None)
    return {"account": request.scope.account, "region": request.scope.region, "resource": shortened(resource)}


def shortened(resource: str | list[Any] | None) -> str | list[str] | None:
    """What a client calls a thing, which need not be the name of anything."""
    if isinstance(resource, list):
        return [str(each)[:NAME_CHARACTERS_MAX] for each in resource[:NAMES_MAX]]
    return None if resource is None else resource[:ARN_CHARACTERS_MAX]
