"""CreateTable: add a table with its keys and indexes."""

from __future__ import annotations

import uuid
from dataclasses import replace

import orjson

from hashrange.engine import keyspace, lifecycle
from hashrange.engine.database import Database
from hashrange.engine.definition import PAY_PER_REQUEST, PROVISIONED, TableDefinition
from hashrange.errors import LimitExceededException, ResourceInUseException
from hashrange.limits import TABLES_PER_REGION_MAX
from hashrange.operations.operation import Operation, Request, Write
from hashrange.operations.policies.rules import check_policy
from hashrange.operations.tables import schema
from hashrange.operations.tables.description import describe
from hashrange.operations.tables.on_demand import TABLE, new_maximum, new_warm
from hashrange.operations.tables.stream_settings import check_new_table_stream, enable
from hashrange.operations.tags.rules import check_tags
from hashrange.operations.unsupported import refuse_unsupported
from hashrange.policies.record import ResourcePolicy, next_revision
from hashrange.storage.interface import Plan, Snapshot


def create_table(db: Database, request: Request) -> Write:
    refuse_unsupported(request)
    draft = definition_of(request)
    stream_view = check_new_table_stream(request.get("StreamSpecification"))
    tags = check_tags(request.get("Tags") or [])
    policy = check_policy(request["ResourcePolicy"], is_stream=False) if "ResourcePolicy" in request else None

    def plan(snapshot: Snapshot) -> Plan:
        if db.catalog.find(snapshot, request.scope, draft.name) is not None:
            raise ResourceInUseException(f"Table already exists: {draft.name}")
        check_table_count(db, snapshot, request)
        now = db.clock.micros()
        definition = replace(
            draft,
            id=lifecycle.next_table_id(snapshot),
            uuid=str(uuid.uuid4()),
            created_at_micros=now,
            on_demand_since_micros=now if draft.billing_mode == PAY_PER_REQUEST else None,
            log_slices=db.settings.stream_shards,
        )
        streams: list[lifecycle.Mutation] = []
        if stream_view is not None:
            definition, stream = enable(db, definition, stream_view)
            streams.append(stream)
        record, mutations = lifecycle.create(db, definition)
        mutations += streams
        if tags:
            mutations.append((keyspace.tags_key(definition.id), orjson.dumps(tags)))
        if policy is not None:
            first = ResourcePolicy(policy, next_revision(None, now))
            mutations.append((keyspace.policy_key(definition.id), first.dump()))
        return Plan(mutations, answer={"TableDescription": describe(snapshot, record.now, warm=False)})

    return Write(plan)


def check_table_count(db: Database, snapshot: Snapshot, request: Request) -> None:
    count = sum(1 for _ in db.catalog.names(snapshot, request.scope))
    if count >= TABLES_PER_REGION_MAX:
        raise LimitExceededException(
            f"Subscriber limit exceeded: Number of tables exceeds the limit of {TABLES_PER_REGION_MAX}"
        )


def definition_of(request: Request) -> TableDefinition:
    """The table that the request describes, without what only the database can give it."""
    mode, region = request.get("BillingMode", PROVISIONED), request.scope.region
    check_billing(request, mode)
    on_demand = new_maximum(request.get("OnDemandThroughput"), TABLE, region, provisioned=mode == PROVISIONED)
    throughput = schema.throughput_of(request.get("ProvisionedThroughput"), region)
    warm = new_warm(request.get("WarmThroughput"), throughput, TABLE, region, mode)
    types = schema.attribute_types(request["AttributeDefinitions"])
    key = schema.table_key(request["KeySchema"], types)
    local = schema.local_indexes(request.get("LocalSecondaryIndexes"), key, types)
    global_ = schema.global_indexes(
        request.get("GlobalSecondaryIndexes"),
        types,
        provisioned=mode == PROVISIONED,
        first_number=len(local) + 1,
        region=region,
    )
    indexes = (*local, *global_)
    schema.check_index_names(indexes)
    schema.check_definitions_used(types, key, indexes)
    return TableDefinition(
        id=0,
        uuid="",
        account=request.scope.account,
        region=region,
        name=request["TableName"],
        key=key,
        attribute_types=types,
        created_at_micros=0,
        indexes=indexes,
        last_index_number=len(indexes),
        billing_mode=mode,
        throughput=throughput,
        on_demand=on_demand,
        warm=warm,
        table_class=request.get("TableClass"),
        deletion_protected=request.get("DeletionProtectionEnabled", False),
    )


def check_billing(request: Request, mode: str) -> None:
    given = "ProvisionedThroughput" in request
    if mode == PAY_PER_REQUEST and given:
        raise schema.invalid(schema.ON_DEMAND_HAS_NO_UNITS)
    if mode == PROVISIONED and not given:
        raise schema.invalid(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
        )


OPERATION = Operation(name="CreateTable", run=create_table)
