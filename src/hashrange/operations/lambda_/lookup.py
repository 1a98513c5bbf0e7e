"""Finding triggers, streams and functions by the names that clients use, and refusing what cannot be honoured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.scope import Scope
from hashrange.errors import InvalidParameterValueException, ResourceNotFoundException, ValidationException
from hashrange.operations.streams.lookup import find_stream
from hashrange.storage.interface import Snapshot
from hashrange.streams.stream import Stream
from hashrange.triggers.settings import NUMBERS, SWITCHES
from hashrange.triggers.target import BadTarget, function_name, is_target, parse_target, registered
from hashrange.triggers.trigger import Trigger
from hashrange.values.ordered import after

HONOURED = {
    "UUID",
    "EventSourceArn",
    "FunctionName",
    "StartingPosition",
    "FilterCriteria",
    "DestinationConfig",
    "FunctionResponseTypes",
    *NUMBERS,
    *SWITCHES,
}
CODE_OVER_THE_NETWORK = (
    "FunctionName must be an http or https URL, or the name of a function that was registered with "
    "`hashrange functions set`. Code to run can be named on the server's own machine only."
)


def refuse_unsupported(members: Mapping[str, Any]) -> None:
    for name, given in members.items():
        if name not in HONOURED and given not in (None, 0, [], {}):
            raise InvalidParameterValueException(f"Unsupported {name} parameter for given event source type.")


def source_stream(db: Database, snapshot: Snapshot, scope: Scope, arn: str | None) -> Stream:
    if not isinstance(arn, str) or ":dynamodb:" not in arn:
        raise InvalidParameterValueException("Unrecognized event source.")
    try:
        return find_stream(db, snapshot, scope, arn)
    except (ResourceNotFoundException, ValidationException):
        raise InvalidParameterValueException(f"Stream not found: {arn}") from None


def callable_function(db: Database, snapshot: Snapshot, scope: Scope, given: Any, *, trusted: bool) -> str:
    """The function of a request, as it is kept: a target, or the plain name of a registered function."""
    if not isinstance(given, str) or not given:
        raise InvalidParameterValueException("FunctionName is required.")
    if is_target(given):
        try:
            target = parse_target(given)
        except BadTarget as error:
            raise InvalidParameterValueException(str(error)) from None
        if not trusted and target.kind != "http":
            raise InvalidParameterValueException(CODE_OVER_THE_NETWORK)
        return given
    name = function_name(given)
    if name is None:
        raise InvalidParameterValueException(CODE_OVER_THE_NETWORK)
    if registered(snapshot, db.settings.functions, name) is None:
        arn = f"arn:aws:lambda:{scope.region}:{scope.account}:function:{name}"
        raise ResourceNotFoundException(f"Function not found: {arn}")
    return name


def find_trigger(snapshot: Snapshot, scope: Scope, uuid: str) -> Trigger:
    stored = snapshot.get(keyspace.trigger_key(scope.prefix, uuid))
    if stored is None:
        raise ResourceNotFoundException("The resource you requested does not exist.")
    return Trigger.load(stored)


def triggers_of(snapshot: Snapshot, scope: Scope, *, after_uuid: str = "") -> Iterator[Trigger]:
    prefix = keyspace.TRIGGER + scope.prefix
    start = prefix + after_uuid.encode() + b"\0" if after_uuid else prefix
    for _, stored in snapshot.scan(start, after(prefix)):
        yield Trigger.load(stored)
