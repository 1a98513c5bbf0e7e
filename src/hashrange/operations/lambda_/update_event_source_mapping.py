"""UpdateEventSourceMapping: change a trigger's function or settings, or let it rest."""

from __future__ import annotations

from dataclasses import replace

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.lifecycle import Mutation
from hashrange.operations.lambda_.description import describe
from hashrange.operations.lambda_.lookup import callable_function, find_trigger, refuse_unsupported
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot
from hashrange.streams.stream import Stream
from hashrange.triggers.batch import Place, next_wanted
from hashrange.triggers.checkpoint import checkpoint_of, divided
from hashrange.triggers.settings import changed
from hashrange.triggers.trigger import Trigger


def update_event_source_mapping(db: Database, request: Request, *, trusted: bool = False) -> Write:
    refuse_unsupported(request.members)

    def plan(snapshot: Snapshot) -> Plan:
        before = find_trigger(snapshot, request.scope, request["UUID"])
        trigger = replace(
            changed(before, request.members, trusted=trusted),
            modified_at_micros=db.clock.micros(),
        )
        if request.get("FunctionName") is not None:
            function = callable_function(db, snapshot, request.scope, request["FunctionName"], trusted=trusted)
            trigger = replace(trigger, function=function)
        mutations: list[Mutation] = [(trigger.stored_key, trigger.dump()), *regrouped(snapshot, before, trigger)]
        return Plan(mutations, answer=describe(trigger, state_on_the_way(before, trigger)))

    return Write(plan)


def regrouped(snapshot: Snapshot, before: Trigger, trigger: Trigger) -> list[Mutation]:
    """Where every slice has come, divided among as many lanes as there are from now on."""
    stored = snapshot.get(bytes.fromhex(trigger.stream_key))
    if trigger.lanes == before.lanes or stored is None:
        return []
    stream = Stream.load(stored)
    mutations: list[Mutation] = []
    for slice_number in range(stream.slices):
        checkpoint = checkpoint_of(snapshot, before, slice_number)
        positions = [
            next_wanted(snapshot, Place(before, stream, slice_number, number), lane.position)
            for number, lane in enumerate(checkpoint.lanes)
        ]
        key = keyspace.checkpoint_key(trigger.uuid, slice_number)
        mutations.append((key, divided(positions, trigger.lanes).dump()))
    return mutations


def state_on_the_way(before: Trigger, trigger: Trigger) -> str:
    if before.enabled == trigger.enabled:
        return "Updating"
    return "Enabling" if trigger.enabled else "Disabling"


OPERATION = Operation(name="UpdateEventSourceMapping", run=update_event_source_mapping, service="lambda")
