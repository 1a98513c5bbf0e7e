"""TableDescription: a table as DescribeTable and its relatives show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hashrange.capacity.limits import warm_throughput as warm_units
from hashrange.engine import keyspace
from hashrange.engine.counters import read_counter
from hashrange.engine.definition import (
    GLOBAL,
    IndexDefinition,
    KeySchema,
    TableDefinition,
    Throughput,
)
from hashrange.storage.interface import Snapshot


def seconds(micros: int) -> float:
    """A timestamp as the wire has it: epoch seconds with milliseconds."""
    return micros // 1000 / 1000


def describe(snapshot: Snapshot, table: TableDefinition, *, warm: bool = True) -> dict[str, Any]:
    """The whole description. CreateTable leaves out the warm throughput that nobody asked for."""
    items, size_bytes = count(snapshot, table.id, keyspace.BASE_TABLE)
    answer: dict[str, Any] = {
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in sorted(table.attribute_types.items())
        ],
        "TableName": table.name,
        "KeySchema": key_schema(table.key),
        "TableStatus": table.status,
        "CreationDateTime": seconds(table.created_at_micros),
        "ProvisionedThroughput": throughput(table.throughput),
        "TableSizeBytes": size_bytes,
        "ItemCount": items,
        "TableArn": table.arn,
        "TableId": table.uuid,
        **billing_mode_summary(table),
        **index_descriptions(snapshot, table, warm=warm),
        **on_demand_throughput(table.on_demand),
        **table_class_summary(table),
        **stream_summary(table),
        **restore_summary(table),
        "DeletionProtectionEnabled": table.deletion_protected,
    }
    if warm or table.warm is not None:
        answer["WarmThroughput"] = warm_throughput(table.warm, table.throughput, table.billing_mode)
    return answer


def describe_deleted(snapshot: Snapshot, table: TableDefinition) -> dict[str, Any]:
    """What DeleteTable shows: the keys and indexes are gone already."""
    whole = describe(snapshot, table, warm=False)
    hidden = (
        "AttributeDefinitions",
        "KeySchema",
        "CreationDateTime",
        "LocalSecondaryIndexes",
        "GlobalSecondaryIndexes",
    )
    return {name: value for name, value in whole.items() if name not in hidden}


def count(snapshot: Snapshot, table_id: int, index_number: int) -> tuple[int, int]:
    """Items and bytes of a table or an index."""
    return (
        read_counter(snapshot, keyspace.counter_key(table_id, index_number, keyspace.ITEMS)),
        read_counter(snapshot, keyspace.counter_key(table_id, index_number, keyspace.BYTES)),
    )


def key_schema(key: KeySchema) -> list[dict[str, str]]:
    partition = [{"AttributeName": name, "KeyType": "HASH"} for name in key.partition]
    return partition + [{"AttributeName": name, "KeyType": "RANGE"} for name in key.sort]


def throughput(given: Throughput) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "NumberOfDecreasesToday": given.decreases_today,
        "ReadCapacityUnits": given.read,
        "WriteCapacityUnits": given.write,
    }
    if given.last_increase_micros is not None:
        answer["LastIncreaseDateTime"] = seconds(given.last_increase_micros)
    if given.last_decrease_micros is not None:
        answer["LastDecreaseDateTime"] = seconds(given.last_decrease_micros)
    return answer


def billing_mode_summary(table: TableDefinition) -> dict[str, Any]:
    if table.on_demand_since_micros is None:
        return {}
    summary: dict[str, Any] = {"BillingMode": table.billing_mode}
    summary["LastUpdateToPayPerRequestDateTime"] = seconds(table.on_demand_since_micros)
    return {"BillingModeSummary": summary}


def on_demand_throughput(given: Mapping[str, int] | None) -> dict[str, Any]:
    return {} if given is None else {"OnDemandThroughput": dict(given)}


def table_class_summary(table: TableDefinition) -> dict[str, Any]:
    if table.table_class is None:
        return {}
    summary: dict[str, Any] = {"TableClass": table.table_class}
    if table.table_class_changes_micros:
        summary["LastUpdateDateTime"] = seconds(table.table_class_changes_micros[-1])
    return {"TableClassSummary": summary}


def stream_summary(table: TableDefinition) -> dict[str, Any]:
    """The latest stream is named even after it was disabled."""
    answer: dict[str, Any] = {}
    if table.stream_view is not None:
        answer["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": table.stream_view}
    if table.stream_label is not None:
        answer["LatestStreamLabel"] = table.stream_label
        answer["LatestStreamArn"] = f"{table.arn}/stream/{table.stream_label}"
    return answer


def restore_summary(table: TableDefinition) -> dict[str, Any]:
    """What the table is being restored from; nothing once it is."""
    origin = table.restored_from
    if origin is None:
        return {}
    backup = {} if origin.backup_arn is None else {"SourceBackupArn": origin.backup_arn}
    return {
        "RestoreSummary": {
            **backup,
            "SourceTableArn": origin.table_arn,
            "RestoreDateTime": seconds(origin.at_micros),
            "RestoreInProgress": True,
        }
    }


def warm_throughput(known: Mapping[str, int] | None, provisioned: Throughput, mode: str) -> dict[str, Any]:
    """What the table takes at once without growing first."""
    return {**warm_units(known, provisioned, mode), "Status": "ACTIVE"}


def index_descriptions(snapshot: Snapshot, table: TableDefinition, *, warm: bool) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for index in table.indexes:
        member = "GlobalSecondaryIndexes" if index.kind == GLOBAL else "LocalSecondaryIndexes"
        answer.setdefault(member, []).append(describe_index(snapshot, table, index, warm=warm))
    return answer


def projection(index: IndexDefinition) -> dict[str, Any]:
    if not index.non_key_attributes:
        return {"ProjectionType": index.projection}
    return {"ProjectionType": index.projection, "NonKeyAttributes": list(index.non_key_attributes)}


def describe_index(snapshot: Snapshot, table: TableDefinition, index: IndexDefinition, *, warm: bool) -> dict[str, Any]:
    items, size_bytes = count(snapshot, table.id, index.number)
    answer: dict[str, Any] = {
        "IndexName": index.name,
        "KeySchema": key_schema(index.key),
        "Projection": projection(index),
        "IndexSizeBytes": size_bytes,
        "ItemCount": items,
        "IndexArn": f"{table.arn}/index/{index.name}",
    }
    if index.kind == GLOBAL:
        status = "CREATING" if table.status == "CREATING" else index.status
        answer["IndexStatus"] = status
        if index.status in ("CREATING", "DELETING"):
            answer["Backfilling"] = index.backfilling
        answer["ProvisionedThroughput"] = throughput(index.throughput)
        answer.update(on_demand_throughput(index.on_demand))
        if warm or index.warm is not None:
            answer["WarmThroughput"] = warm_throughput(index.warm, index.throughput, table.billing_mode)
    return answer
