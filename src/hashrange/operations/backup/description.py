"""Backups and the state of point-in-time recovery, as clients see them."""

from __future__ import annotations

from typing import Any

from hashrange.backup.backup import Backup
from hashrange.backup.recovery import earliest_micros, latest_micros
from hashrange.engine.definition import IndexDefinition, TableDefinition
from hashrange.operations.tables.description import key_schema, on_demand_throughput, projection, seconds


def describe_recovery(table: TableDefinition, now_micros: int) -> dict[str, Any]:
    """ContinuousBackupsDescription."""
    recovery: dict[str, Any] = {"PointInTimeRecoveryStatus": "DISABLED"}
    if table.recovery_since_micros is not None:
        recovery = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "RecoveryPeriodInDays": table.recovery_days,
            "EarliestRestorableDateTime": seconds(earliest_micros(table, now_micros)),
            "LatestRestorableDateTime": seconds(latest_micros(table, now_micros)),
        }
    status = "DISABLED" if table.status == "CREATING" else "ENABLED"
    return {"ContinuousBackupsStatus": status, "PointInTimeRecoveryDescription": recovery}


def backup_details(backup: Backup, status: str) -> dict[str, Any]:
    """BackupDetails. A backup is available as soon as it is made: its items are certain before they are copied."""
    details: dict[str, Any] = {
        "BackupArn": backup.arn,
        "BackupName": backup.name,
        "BackupSizeBytes": backup.size_bytes,
        "BackupStatus": status,
        "BackupType": backup.kind,
        "BackupCreationDateTime": seconds(backup.created_at_micros),
    }
    if backup.expires_at_micros is not None:
        details["BackupExpiryDateTime"] = seconds(backup.expires_at_micros)
    return details


def backup_summary(backup: Backup) -> dict[str, Any]:
    table = backup.table
    return {
        "TableName": table.name,
        "TableId": table.uuid,
        "TableArn": table.arn,
        **backup_details(backup, "AVAILABLE"),
    }


def backup_description(backup: Backup, status: str) -> dict[str, Any]:
    return {
        "BackupDetails": backup_details(backup, status),
        "SourceTableDetails": source_details(backup),
        "SourceTableFeatureDetails": feature_details(backup.table),
    }


def source_details(backup: Backup) -> dict[str, Any]:
    table = backup.table
    return {
        "TableName": table.name,
        "TableId": table.uuid,
        "TableArn": table.arn,
        "TableSizeBytes": backup.size_bytes,
        "KeySchema": key_schema(table.key),
        "TableCreationDateTime": seconds(table.created_at_micros),
        "ProvisionedThroughput": units(table),
        **on_demand_throughput(table.on_demand),
        "ItemCount": backup.items,
        "BillingMode": table.billing_mode,
    }


def units(provisioned: TableDefinition | IndexDefinition) -> dict[str, int]:
    throughput = provisioned.throughput
    return {"ReadCapacityUnits": throughput.read, "WriteCapacityUnits": throughput.write}


def feature_details(table: TableDefinition) -> dict[str, Any]:
    details: dict[str, Any] = {}
    if table.local_indexes:
        details["LocalSecondaryIndexes"] = [index_info(index) for index in table.local_indexes]
    if table.global_indexes:
        details["GlobalSecondaryIndexes"] = [
            {**index_info(index), "ProvisionedThroughput": units(index), **on_demand_throughput(index.on_demand)}
            for index in table.global_indexes
        ]
    if table.stream_view is not None:
        details["StreamDescription"] = {"StreamEnabled": True, "StreamViewType": table.stream_view}
    if table.ttl_attribute is not None:
        details["TimeToLiveDescription"] = {"TimeToLiveStatus": "ENABLED", "AttributeName": table.ttl_attribute}
    return details


def index_info(index: IndexDefinition) -> dict[str, Any]:
    return {"IndexName": index.name, "KeySchema": key_schema(index.key), "Projection": projection(index)}
