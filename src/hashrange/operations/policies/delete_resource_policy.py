"""DeleteResourcePolicy: take the policy off a table or a stream. One that has none stays as it is."""

from __future__ import annotations

from hashrange.engine.database import Database
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.policies.rules import check_revision, policy_key_of
from hashrange.policies.record import find
from hashrange.storage.interface import Plan, Snapshot


def delete_resource_policy(db: Database, request: Request) -> Write:
    arn: str = request["ResourceArn"]

    def plan(snapshot: Snapshot) -> Plan:
        key = policy_key_of(db, snapshot, request.scope, arn)
        current = find(snapshot, key)
        check_revision(request.get("ExpectedRevisionId"), current, arn)
        if current is None:
            return Plan(answer={})
        return Plan([(key, None)], answer={"RevisionId": current.revision})

    return Write(plan)


OPERATION = Operation(name="DeleteResourcePolicy", run=delete_resource_policy)
