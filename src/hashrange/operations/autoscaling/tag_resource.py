"""TagResource: add tags to a scalable target, or give those it has new values."""

from __future__ import annotations

from dataclasses import replace

from hashrange.engine.database import Database
from hashrange.operations.autoscaling.lookup import SERVICE
from hashrange.operations.autoscaling.tags import check_tags, tagged_target
from hashrange.operations.operation import Operation, Request, Write
from hashrange.scaling.target import save
from hashrange.storage.interface import Plan, Snapshot


def tag_resource(db: Database, request: Request) -> Write:
    def plan(snapshot: Snapshot) -> Plan:
        target = tagged_target(snapshot, request)
        tagged = replace(target, tags=check_tags({**target.tags, **request["Tags"]}))
        return Plan(save(tagged, due_at_micros=target.due_at_micros), answer={})

    return Write(plan)


OPERATION = Operation(name="TagResource", run=tag_resource, service=SERVICE)
