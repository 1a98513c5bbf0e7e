"""ListEventSourceMappings: the triggers of an account in a region, or of one stream or function."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from hashrange.engine.database import Database
from hashrange.errors import InvalidParameterValueException
from hashrange.limits import TRIGGERS_PAGE
from hashrange.operations.lambda_.description import describe
from hashrange.operations.lambda_.lookup import triggers_of
from hashrange.operations.operation import Operation, Request
from hashrange.triggers.target import function_name, is_target
from hashrange.triggers.trigger import Trigger

NUMBER = re.compile(r"[0-9]{1,5}")


def list_event_source_mappings(db: Database, request: Request) -> dict[str, Any]:
    limit = page_size(request.get("MaxItems"))
    with db.read() as snapshot:
        every = triggers_of(snapshot, request.scope, after_uuid=request.get("Marker", ""))
        found = list(islice((trigger for trigger in every if is_wanted(request, trigger)), limit + 1))
    answer: dict[str, Any] = {"EventSourceMappings": [describe(trigger) for trigger in found[:limit]]}
    if len(found) > limit:
        answer["NextMarker"] = found[limit - 1].uuid
    return answer


def page_size(given: str | None) -> int:
    if given is None:
        return TRIGGERS_PAGE
    if NUMBER.fullmatch(given) is None or not 1 <= int(given) <= 10_000:
        raise InvalidParameterValueException("MaxItems must be a number from 1 to 10000.")
    return min(int(given), TRIGGERS_PAGE)


def is_wanted(request: Request, trigger: Trigger) -> bool:
    if trigger.stream_arn != request.get("EventSourceArn", trigger.stream_arn):
        return False
    function = request.get("FunctionName", trigger.function)
    return trigger.function == (function if is_target(function) else function_name(function))


OPERATION = Operation(name="ListEventSourceMappings", run=list_event_source_mappings, service="lambda")
