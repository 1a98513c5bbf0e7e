"""What a restored table is like: its source's keys, indexes and capacity, as far as the request does not override them.

Streams, time to live, tags, point-in-time recovery, deletion protection and table class are not restored.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hashrange.engine import lifecycle
from hashrange.engine.database import Database
from hashrange.engine.definition import (
    GLOBAL,
    LOCAL,
    PAY_PER_REQUEST,
    PROVISIONED,
    IndexDefinition,
    KeySchema,
    TableDefinition,
    Throughput,
)
from hashrange.operations.operation import Request
from hashrange.operations.tables import schema
from hashrange.operations.tables.index_updates import used_types
from hashrange.operations.tables.on_demand import TABLE, changed_maximum
from hashrange.storage.interface import Snapshot

Wire = Mapping[str, Any]


def restored_definition(db: Database, snapshot: Snapshot, source: TableDefinition, request: Request) -> TableDefinition:
    now = db.clock.micros()
    mode = request.get("BillingModeOverride", source.billing_mode)
    throughput = restored_throughput(source, mode, request)
    indexes = restored_indexes(source, mode, request)
    definition = TableDefinition(
        id=lifecycle.next_table_id(snapshot),
        uuid=str(uuid.uuid4()),
        account=request.scope.account,
        region=request.scope.region,
        name=request["TargetTableName"],
        key=source.key,
        attribute_types=used_types(source.attribute_types, indexes, source),
        created_at_micros=now,
        indexes=indexes,
        last_index_number=len(indexes),
        billing_mode=mode,
        on_demand_since_micros=now if mode == PAY_PER_REQUEST else None,
        throughput=throughput,
        on_demand=source.on_demand if mode == PAY_PER_REQUEST else None,
        log_slices=db.settings.stream_shards,
    )
    if "OnDemandThroughputOverride" in request:
        wanted = request["OnDemandThroughputOverride"]
        definition = replace(definition, on_demand=changed_maximum(None, wanted, TABLE, definition.region, mode))
    return definition


def restored_throughput(source: TableDefinition, mode: str, request: Request) -> Throughput:
    given = request.get("ProvisionedThroughputOverride")
    if mode == PAY_PER_REQUEST:
        if given is not None:
            raise schema.invalid(
                "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
            )
        return Throughput()
    if given is not None:
        return schema.throughput_of(given, request.scope.region)
    if source.billing_mode != PROVISIONED:
        raise schema.invalid(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
        )
    return Throughput(source.throughput.read, source.throughput.write)


def restored_indexes(source: TableDefinition, mode: str, request: Request) -> tuple[IndexDefinition, ...]:
    """The indexes that the source has, or those of them that the request chooses, perhaps under other names."""
    local = chosen(source.local_indexes, request.get("LocalSecondaryIndexOverride"))
    global_ = chosen(source.global_indexes, request.get("GlobalSecondaryIndexOverride"))
    indexes = [
        restored_index(index, given, number, mode, request)
        for number, (index, given) in enumerate([*local, *global_], start=1)
    ]
    schema.check_index_names(indexes)
    return tuple(indexes)


def chosen(indexes: tuple[IndexDefinition, ...], override: list[Wire] | None) -> list[tuple[IndexDefinition, Wire]]:
    """Indexes of the source, each with what the request says about it. Saying nothing about any keeps them all."""
    existing = [index for index in indexes if index.status != "DELETING"]
    if override is None:
        return [(index, {"IndexName": index.name}) for index in existing]
    return [(matching(existing, given), given) for given in override]


def matching(indexes: list[IndexDefinition], given: Wire) -> IndexDefinition:
    """The index with the keys and the projection that are given."""
    elements = given["KeySchema"]
    partition, sort = (
        tuple(element["AttributeName"] for element in elements if element["KeyType"] == kind)
        for kind in ("HASH", "RANGE")
    )
    projection, attributes = schema.projection_of(given.get("Projection") or {})
    for index in indexes:
        if index.key != KeySchema(partition, sort) or index.projection != projection:
            continue
        if set(index.non_key_attributes) == set(attributes):
            return index
    raise schema.invalid(f"The index does not match any index of the source table: {given['IndexName']}")


def restored_index(index: IndexDefinition, given: Wire, number: int, mode: str, request: Request) -> IndexDefinition:
    name = given["IndexName"]
    plain = IndexDefinition(name, number, index.kind, index.key, index.projection, index.non_key_attributes)
    if index.kind == LOCAL:
        return plain
    assert index.kind == GLOBAL
    wanted = given.get("ProvisionedThroughput")
    if mode == PAY_PER_REQUEST:
        if wanted is not None:
            raise schema.invalid(
                f"ProvisionedThroughput should not be specified for index: {name} when BillingMode is PAY_PER_REQUEST"
            )
        return replace(plain, on_demand=given.get("OnDemandThroughput", index.on_demand))
    if wanted is not None:
        return replace(plain, throughput=schema.throughput_of(wanted, request.scope.region))
    if not index.throughput.read:
        raise schema.invalid(f"ProvisionedThroughput is not specified for index: {name}")
    return replace(plain, throughput=Throughput(index.throughput.read, index.throughput.write))
