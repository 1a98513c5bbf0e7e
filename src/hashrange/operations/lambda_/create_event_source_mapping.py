"""CreateEventSourceMapping: have a function called with the changes of a stream."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from hashrange.engine.change_log import last_sequence
from hashrange.engine.database import Database
from hashrange.errors import InvalidParameterValueException, ResourceConflictException
from hashrange.operations.lambda_.description import describe
from hashrange.operations.lambda_.lookup import callable_function, refuse_unsupported, source_stream, triggers_of
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot
from hashrange.triggers.settings import changed
from hashrange.triggers.trigger import Trigger

POSITIONS = ("TRIM_HORIZON", "LATEST")
NO_POSITION = (
    "1 validation error detected: Value null at 'startingPosition' failed to satisfy constraint: "
    "Member must not be null."
)


def create_event_source_mapping(db: Database, request: Request, *, trusted: bool = False) -> Write:
    """`trusted` is who works on the server's own machine, and may name code to run and directories to write to."""
    refuse_unsupported(request.members)
    position = starting_position(request.get("StartingPosition"))
    uuid = str(uuid4())

    def plan(snapshot: Snapshot) -> Plan:
        stream = source_stream(db, snapshot, request.scope, request.get("EventSourceArn"))
        function = callable_function(db, snapshot, request.scope, request.get("FunctionName"), trusted=trusted)
        trigger = Trigger(
            uuid=uuid,
            account=request.scope.account,
            region=request.scope.region,
            stream_arn=stream.arn,
            stream_key=stream.stored_key.hex(),
            function=function,
            starting_position=position,
            start=last_sequence(snapshot) + 1 if position == "LATEST" else 0,
            modified_at_micros=db.clock.micros(),
        )
        trigger = changed(trigger, request.members, trusted=trusted)
        refuse_twins(snapshot, request, trigger)
        return Plan([(trigger.stored_key, trigger.dump())], answer=describe(trigger, "Creating"))

    return Write(plan)


def starting_position(given: Any) -> str:
    if given is None:
        raise InvalidParameterValueException(NO_POSITION)
    if given not in POSITIONS:
        raise InvalidParameterValueException(f"Unsupported starting position for stream type DYNAMODB: {given}")
    position: str = given
    return position


def refuse_twins(snapshot: Snapshot, request: Request, trigger: Trigger) -> None:
    """A function is called once for each change of a stream, so one trigger must do."""
    for other in triggers_of(snapshot, request.scope):
        if (other.stream_arn, other.function) == (trigger.stream_arn, trigger.function):
            raise ResourceConflictException(
                f'The event source arn (" {trigger.stream_arn} ") and function (" {trigger.function} ") provided '
                f"mapping already exists. Please update or delete the existing mapping with UUID {other.uuid}"
            )


OPERATION = Operation(name="CreateEventSourceMapping", run=create_event_source_mapping, service="lambda")
