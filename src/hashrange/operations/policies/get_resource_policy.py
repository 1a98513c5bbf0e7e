"""GetResourcePolicy: show the policy of a table or a stream."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.operations.operation import Operation, Request
from hashrange.operations.policies.rules import not_found, policy_key_of
from hashrange.policies.record import find


def get_resource_policy(db: Database, request: Request) -> dict[str, Any]:
    arn: str = request["ResourceArn"]
    with db.read() as snapshot:
        policy = find(snapshot, policy_key_of(db, snapshot, request.scope, arn))
    if policy is None:
        raise not_found(arn)
    return {"Policy": policy.text, "RevisionId": policy.revision}


OPERATION = Operation(name="GetResourcePolicy", run=get_resource_policy)
