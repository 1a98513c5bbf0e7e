"""DeleteEventSourceMapping: stop calling a function, and forget how far it had come."""

from __future__ import annotations

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.lifecycle import Mutation
from hashrange.operations.lambda_.description import describe
from hashrange.operations.lambda_.lookup import find_trigger
from hashrange.operations.operation import Operation, Request, Write
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.ordered import after


def delete_event_source_mapping(db: Database, request: Request) -> Write:
    def plan(snapshot: Snapshot) -> Plan:
        trigger = find_trigger(snapshot, request.scope, request["UUID"])
        prefix = keyspace.checkpoint_prefix(trigger.uuid)
        mutations: list[Mutation] = [(key, None) for key, _ in snapshot.scan(prefix, after(prefix))]
        return Plan([(trigger.stored_key, None), *mutations], answer=describe(trigger, "Deleting"))

    return Write(plan)


OPERATION = Operation(name="DeleteEventSourceMapping", run=delete_event_source_mapping, service="lambda")
