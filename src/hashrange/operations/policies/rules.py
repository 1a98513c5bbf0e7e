"""What a resource policy may say, whose it is, and when it may be changed."""

from __future__ import annotations

import orjson

from hashrange.auth.policy.document import InvalidPrincipal, MalformedPolicy, Policy, resource_policy
from hashrange.auth.policy.statement import ALLOW
from hashrange.engine import keyspace, lifecycle
from hashrange.engine.catalog import SERVING
from hashrange.engine.database import Database
from hashrange.engine.keys import INVALID
from hashrange.engine.scope import Scope
from hashrange.errors import (
    PolicyNotFoundException,
    ResourceInUseException,
    ResourceNotFoundException,
    ValidationException,
)
from hashrange.limits import RESOURCE_POLICY_BYTES_MAX
from hashrange.operations.streams.lookup import find_stream
from hashrange.operations.tags.rules import parse_resource_arn
from hashrange.policies.record import NO_POLICY, ResourcePolicy
from hashrange.storage.interface import Snapshot

STREAM_PART = "/stream/"
UNBOUNDED = (
    "Resource-based policy grants unbounded access in one or more elements. Please revise the policy to ensure "
    "least-privilege form of access"
)
NOT_THE_OWNER = "This action is only supported by accounts that match the resource owner\u2019s account."

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
    "TransactGetItems",
    "TransactWriteItems",
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
"""What may be named on a table or a stream: the operations of the developer guide's page "API operations supported by
resource-based policies", and the actions that PartiQL, transactions, replicas and bulk writes are made of. The service
was seen to refuse ListStreams on a stream, and GetRecords, DescribeStream and RestoreTableFromBackup on a table."""


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
    check_principals(policy)
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


def check_principals(policy: Policy) -> None:
    """Nobody grants something to everybody, without a condition, or to all but some (IAM user guide, NotPrincipal)."""
    for statement in policy.statements:
        if statement.effect != ALLOW:
            continue
        if statement.principals is None:
            raise ValidationException(f"{INVALID}Invalid policy document: NotPrincipal goes with Deny only")
        if statement.principals.is_everybody and not statement.conditions:
            raise ValidationException(UNBOUNDED)


def policy_key_of(db: Database, snapshot: Snapshot, scope: Scope, arn: str) -> bytes:
    """Where the policy of a table or stream is kept; it must exist and be ready."""
    if arn.count(":") >= 5 and not arn.startswith(f"arn:aws:dynamodb:{scope.region}:") and ":dynamodb:" in arn:
        raise ValidationException(f"{INVALID}Invalid resource Arn: {arn}")
    account, name = parse_resource_arn(arn, scope)
    if account != scope.account:
        raise ValidationException(NOT_THE_OWNER)
    if STREAM_PART in arn:
        try:
            stream = find_stream(db, snapshot, scope, arn)
        except ResourceNotFoundException:
            label = arn.partition(STREAM_PART)[2]
            raise ResourceNotFoundException(
                f"Requested resource not found: Stream: {label} not found for Table: {name}"
            ) from None
        return keyspace.policy_key(stream.table_id, stream.label)
    table = lifecycle.existing_table(db, snapshot, scope, name).definition
    if table.status not in SERVING:
        raise ResourceInUseException(lifecycle.IN_USE + lifecycle.NOT_READY[table.status].format(name=table.name))
    return keyspace.policy_key(table.id)


def check_revision(expected: str | None, current: ResourcePolicy | None, arn: str) -> None:
    """A change may be meant for one revision only."""
    revision = NO_POLICY if current is None else current.revision
    if expected is None or expected == revision:
        return
    if expected == NO_POLICY:
        raise not_found(arn)
    name = arn.partition(":table/")[2].partition("/")[0]
    if current is None:
        raise not_found(
            f"Requested update for policy with revision id {expected}, but table {name} has no associated policy."
        )
    raise not_found(  # we have not seen how the service ends this sentence
        f"Requested update for policy with revision id {expected}, but the policy associated to target table {name} "
        "has another revision id."
    )


def not_found(arn_or_reason: str) -> PolicyNotFoundException:
    return PolicyNotFoundException(f"Resource-based policy not found for the provided ResourceArn: {arn_or_reason}")
