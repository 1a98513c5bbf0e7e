"""UntagResource: take tags off a scalable target. Keys that it does not have are ignored."""

from __future__ import annotations

from dataclasses import replace

from hashrange.engine.database import Database
from hashrange.operations.autoscaling.lookup import SERVICE
from hashrange.operations.autoscaling.tags import tagged_target
from hashrange.operations.operation import Operation, Request, Write
from hashrange.scaling.target import save
from hashrange.storage.interface import Plan, Snapshot


def untag_resource(db: Database, request: Request) -> Write:
    def plan(snapshot: Snapshot) -> Plan:
        target = tagged_target(snapshot, request)
        tags = {key: value for key, value in target.tags.items() if key not in request["TagKeys"]}
        return Plan(save(replace(target, tags=tags), due_at_micros=target.due_at_micros), answer={})

    return Write(plan)


OPERATION = Operation(name="UntagResource", run=untag_resource, service=SERVICE)
