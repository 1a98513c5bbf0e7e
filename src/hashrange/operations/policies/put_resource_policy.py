"""PutResourcePolicy: attach a policy to a table or a stream, or replace the one it has."""

from __future__ import annotations

from hashrange.engine.database import Database
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.policies.rules import STREAM_PART, check_policy, check_revision, policy_key_of
from hashrange.policies.record import ResourcePolicy, find, next_revision
from hashrange.storage.interface import Plan, Snapshot


def put_resource_policy(db: Database, request: Request) -> Write:
    arn: str = request["ResourceArn"]
    text = check_policy(request["Policy"], is_stream=STREAM_PART in arn)

    def plan(snapshot: Snapshot) -> Plan:
        key = policy_key_of(db, snapshot, request.scope, arn)
        current = find(snapshot, key)
        check_revision(request.get("ExpectedRevisionId"), current, arn)
        if current is not None and current.text == text:
            return Plan(answer={"RevisionId": current.revision})
        policy = ResourcePolicy(text, next_revision(current, db.clock.micros()))
        return Plan([(key, policy.dump())], answer={"RevisionId": policy.revision})

    return Write(plan)


OPERATION = Operation(name="PutResourcePolicy", run=put_resource_policy)
