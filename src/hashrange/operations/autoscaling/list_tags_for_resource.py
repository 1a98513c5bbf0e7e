"""ListTagsForResource: the tags of a scalable target."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.operations.autoscaling.lookup import SERVICE
from hashrange.operations.autoscaling.tags import tagged_target
from hashrange.operations.operation import Operation, Request


def list_tags_for_resource(db: Database, request: Request) -> dict[str, Any]:
    with db.read() as snapshot:
        return {"Tags": dict(tagged_target(snapshot, request).tags)}


OPERATION = Operation(name="ListTagsForResource", run=list_tags_for_resource, service=SERVICE)
