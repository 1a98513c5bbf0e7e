"""What a resource policy may say, whose it is, and when it may be changed."""

from __future__ import annotations

import orjson

from hashrange.auth.policy.document import InvalidPrincipal, MalformedPolicy, Policy, resource_policy
from hashrange.engine import keyspace, lifecycle
from hashrange.engine.catalog import SERVING
from hashrange.engine.database import Database
from hashrange.engine.keys import INVALID
from hashrange.engine.scope import Scope, scope_of
from hashrange.errors import PolicyNotFoundException, ResourceInUseException, ValidationException
from hashrange.limits import RESOURCE_POLICY_BYTES_MAX
from hashrange.operations.streams.lookup import find_stream
from hashrange.operations.tags.rules import parse_resource_arn
from hashrange.policies.record import NO_POLICY, ResourcePolicy
from hashrange.storage.interface import Snapshot

STREAM_PART = "/stream/"

POLICY_ACTIONS = frozenset({"PutResourcePolicy", "GetResourcePolicy", "DeleteResourcePolicy"})
STREAM_ACTIONS = POLICY_ACTIONS | {"DescribeStream", "GetRecords", "GetShardIterator"}
TABLE_ACTIONS = POLICY_ACTIONS | {
    "BatchGetItem",
    "BatchWriteItem",
    "ConditionCheckItem",
    "CreateBackup",
    "CreateTableReplica",
    "DeleteItem",
    "DeleteTable",
    "DeleteTableReplica",
    "DescribeContinuousBackups",
    "DescribeContributorInsights",
    "DescribeExport",
    "DescribeKinesisStreamingDestination",
    "DescribeTable",
    "DescribeTableReplicaAutoScaling",
    "DescribeTimeToLive",
    "DisableKinesisStreamingDestination",
    "EnableKinesisStreamingDestination",
    "ExportTableToPointInTime",
    "GetItem",
    "ListTagsOfResource",
    "PartiQLDelete",
    "PartiQLInsert",
    "PartiQLSelect",
    "PartiQLUpdate",
    "PutItem",
    "Query",
    "ReadDataForReplication",
    "ReplicateSettings",
    "RestoreTableToPointInTime",
    "Scan",
    "SearchVectors",
    "StartBulkPutItems",
    "TagResource",
    "UntagResource",
    "UpdateContinuousBackups",
    "UpdateContributorInsights",
    "UpdateItem",
    "UpdateKinesisStreamingDestination",
    "UpdateTable",
    "UpdateTableReplicaAutoScaling",
    "UpdateTimeToLive",
    "WriteDataForReplication",
}
"""What may be named on a table or a stream (developer guide, "API operations supported by resource-based policies")."""


def check_policy(text: str, *, is_stream: bool) -> str:
    """A policy that a request brings, without needless white space."""
    if len(text.encode()) > RESOURCE_POLICY_BYTES_MAX:
        raise ValidationException(f"{INVALID}Maximum policy size of {RESOURCE_POLICY_BYTES_MAX} bytes exceeded")
    try:
        policy = resource_policy(text)
    except InvalidPrincipal:
        raise ValidationException(f"{INVALID}Invalid principal in policy document.") from None
    except MalformedPolicy as error:
        raise ValidationException(f"{INVALID}Invalid policy document: {error}") from None
    check_actions(policy, STREAM_ACTIONS if is_stream else TABLE_ACTIONS)
    return orjson.dumps(orjson.loads(text)).decode()


def check_actions(policy: Policy, known: frozenset[str]) -> None:
    """Actions that are spelled out have to be such as the resource knows; wildcards may reach beyond them."""
    names = {f"dynamodb:{name}".lower() for name in known}
    written = [
        template.written
        for statement in policy.statements
        for template in statement.actions.templates
        if "*" not in template.written and "?" not in template.written
    ]
    invalid = [f'"{name}"' for name in dict.fromkeys(written) if name.lower() not in names]
    if invalid:
        raise ValidationException(
            f"{INVALID}Invalid policy document: The following action names are invalid: {', '.join(invalid)}"
        )


def policy_key_of(db: Database, snapshot: Snapshot, scope: Scope, arn: str) -> bytes:
    """Where the policy of a table or stream is kept; it must exist and be ready."""
    account, name = parse_resource_arn(arn, scope)
    if STREAM_PART in arn:
        stream = find_stream(db, snapshot, scope, arn)
        return keyspace.policy_key(stream.table_id, stream.label)
    table = lifecycle.existing_table(db, snapshot, scope_of(account, scope.region), name).definition
    if table.status not in SERVING:
        raise ResourceInUseException(lifecycle.IN_USE + lifecycle.NOT_READY[table.status].format(name=table.name))
    return keyspace.policy_key(table.id)


def check_revision(expected: str | None, current: ResourcePolicy | None, arn: str) -> None:
    """A change may be meant for one revision only."""
    revision = NO_POLICY if current is None else current.revision
    if expected is not None and expected != revision:
        raise not_found(arn)


def not_found(arn: str) -> PolicyNotFoundException:
    return PolicyNotFoundException(f"Resource-based policy not found for the provided ResourceArn: {arn}")
