"""The table of contents of the API: every operation that works.

Each is named by its module, which ends with `OPERATION = Operation(...)`, and is loaded when it is first asked for:
a server that starts has to answer at once, and most never meet most operations.
"""

from __future__ import annotations

from importlib import import_module

from hashrange.operations.operation import Operation, RestOperation

CONTENTS: tuple[str, ...] = (
    "tables.create_table",
    "tables.describe_table",
    "tables.list_tables",
    "tables.update_table",
    "tables.delete_table",
    "items.put_item",
    "items.get_item",
    "items.update_item",
    "items.delete_item",
    "reads.query",
    "reads.scan",
    "batch.batch_get_item",
    "batch.batch_write_item",
    "transactions.transact_write_items",
    "transactions.transact_get_items",
    "partiql.execute_statement",
    "partiql.batch_execute_statement",
    "partiql.execute_transaction",
    "tags.tag_resource",
    "tags.untag_resource",
    "tags.list_tags_of_resource",
    "ttl.update_time_to_live",
    "ttl.describe_time_to_live",
    "policies.put_resource_policy",
    "policies.get_resource_policy",
    "policies.delete_resource_policy",
    "kinesis.enable_kinesis_streaming_destination",
    "kinesis.disable_kinesis_streaming_destination",
    "kinesis.update_kinesis_streaming_destination",
    "kinesis.describe_kinesis_streaming_destination",
    "backup.update_continuous_backups",
    "backup.describe_continuous_backups",
    "backup.create_backup",
    "backup.describe_backup",
    "backup.list_backups",
    "backup.delete_backup",
    "backup.restore_table_from_backup",
    "backup.restore_table_to_point_in_time",
    "transfer.export_table_to_point_in_time",
    "transfer.describe_export",
    "transfer.list_exports",
    "transfer.import_table",
    "transfer.describe_import",
    "transfer.list_imports",
    "transfer.start_bulk_put_items",
    "transfer.describe_bulk_operation",
    "transfer.list_bulk_operations",
    "transfer.cancel_bulk_operation",
    "insights.update_contributor_insights",
    "insights.describe_contributor_insights",
    "insights.list_contributor_insights",
    "replica_scaling.update_table_replica_auto_scaling",
    "replica_scaling.describe_table_replica_auto_scaling",
    "account.describe_limits",
    "account.describe_endpoints",
    "streams.list_streams",
    "streams.describe_stream",
    "streams.get_shard_iterator",
    "streams.get_records",
)

SCALING_CONTENTS: tuple[str, ...] = (  # those of Application Auto Scaling
    "autoscaling.register_scalable_target",
    "autoscaling.describe_scalable_targets",
    "autoscaling.deregister_scalable_target",
    "autoscaling.put_scaling_policy",
    "autoscaling.describe_scaling_policies",
    "autoscaling.delete_scaling_policy",
    "autoscaling.put_scheduled_action",
    "autoscaling.describe_scheduled_actions",
    "autoscaling.delete_scheduled_action",
    "autoscaling.describe_scaling_activities",
    "autoscaling.tag_resource",
    "autoscaling.untag_resource",
    "autoscaling.list_tags_for_resource",
)

MAPPINGS = "/2015-03-31/event-source-mappings"
MAPPING = MAPPINGS + "/{UUID}"

REST_CONTENTS: tuple[tuple[str, str, int, str], ...] = (  # method, path, status of a success, module
    ("POST", MAPPINGS, 202, "lambda_.create_event_source_mapping"),
    ("GET", MAPPINGS, 200, "lambda_.list_event_source_mappings"),
    ("GET", MAPPING, 200, "lambda_.get_event_source_mapping"),
    ("PUT", MAPPING, 202, "lambda_.update_event_source_mapping"),
    ("DELETE", MAPPING, 202, "lambda_.delete_event_source_mapping"),
)

CLOUDWATCH_CONTENTS: tuple[str, ...] = (
    "cloudwatch.get_metric_data",
    "cloudwatch.get_metric_statistics",
    "cloudwatch.list_metrics",
    "cloudwatch.put_metric_data",
    "cloudwatch.put_metric_alarm",
    "cloudwatch.describe_alarms",
    "cloudwatch.describe_alarms_for_metric",
    "cloudwatch.describe_alarm_history",
    "cloudwatch.delete_alarms",
    "cloudwatch.set_alarm_state",
    "cloudwatch.enable_alarm_actions",
    "cloudwatch.disable_alarm_actions",
    "cloudwatch.describe_insight_rules",
    "cloudwatch.get_insight_rule_report",
)


def name_of(module: str) -> str:
    """The operation that a module holds: `items.put_item` holds PutItem."""
    return "".join(word.capitalize() for word in module.rpartition(".")[2].split("_"))


SERVICES = {"streams": "dynamodbstreams", "autoscaling": "application-autoscaling"}  # by folder


def service_of(module: str) -> str:
    return SERVICES.get(module.partition(".")[0], "dynamodb")


def load(module: str) -> Operation:
    operation: Operation = import_module(f"hashrange.operations.{module}").OPERATION
    return operation


def operations() -> tuple[Operation, ...]:
    """All of them."""
    return tuple(load(module) for module in CONTENTS)


def scaling_operations() -> tuple[Operation, ...]:
    return tuple(load(module) for module in SCALING_CONTENTS)


def rest_operations() -> tuple[RestOperation, ...]:
    return tuple(RestOperation(method, path, status, load(module)) for method, path, status, module in REST_CONTENTS)
