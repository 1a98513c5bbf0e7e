"""The table of contents of the API: every operation that works."""

from __future__ import annotations

from hashrange.operations.account import describe_endpoints, describe_limits
from hashrange.operations.backup import (
    create_backup,
    delete_backup,
    describe_backup,
    describe_continuous_backups,
    list_backups,
    restore_table_from_backup,
    restore_table_to_point_in_time,
    update_continuous_backups,
)
from hashrange.operations.batch import batch_get_item, batch_write_item
from hashrange.operations.items import delete_item, get_item, put_item, update_item
from hashrange.operations.kinesis import (
    describe_kinesis_streaming_destination,
    disable_kinesis_streaming_destination,
    enable_kinesis_streaming_destination,
    update_kinesis_streaming_destination,
)
from hashrange.operations.lambda_ import (
    create_event_source_mapping,
    delete_event_source_mapping,
    get_event_source_mapping,
    list_event_source_mappings,
    update_event_source_mapping,
)
from hashrange.operations.operation import Operation, RestOperation
from hashrange.operations.partiql import batch_execute_statement, execute_statement, execute_transaction
from hashrange.operations.reads import query, scan
from hashrange.operations.streams import describe_stream, get_records, get_shard_iterator, list_streams
from hashrange.operations.tables import create_table, delete_table, describe_table, list_tables, update_table
from hashrange.operations.tags import list_tags_of_resource, tag_resource, untag_resource
from hashrange.operations.transactions import transact_get_items, transact_write_items
from hashrange.operations.transfer import (
    cancel_bulk_operation,
    describe_bulk_operation,
    describe_export,
    describe_import,
    export_table_to_point_in_time,
    import_table,
    list_bulk_operations,
    list_exports,
    list_imports,
    start_bulk_put_items,
)
from hashrange.operations.ttl import describe_time_to_live, update_time_to_live

OPERATIONS: tuple[Operation, ...] = (
    create_table.OPERATION,
    describe_table.OPERATION,
    list_tables.OPERATION,
    update_table.OPERATION,
    delete_table.OPERATION,
    put_item.OPERATION,
    get_item.OPERATION,
    update_item.OPERATION,
    delete_item.OPERATION,
    query.OPERATION,
    scan.OPERATION,
    batch_get_item.OPERATION,
    batch_write_item.OPERATION,
    transact_write_items.OPERATION,
    transact_get_items.OPERATION,
    execute_statement.OPERATION,
    batch_execute_statement.OPERATION,
    execute_transaction.OPERATION,
    tag_resource.OPERATION,
    untag_resource.OPERATION,
    list_tags_of_resource.OPERATION,
    update_time_to_live.OPERATION,
    describe_time_to_live.OPERATION,
    enable_kinesis_streaming_destination.OPERATION,
    disable_kinesis_streaming_destination.OPERATION,
    update_kinesis_streaming_destination.OPERATION,
    describe_kinesis_streaming_destination.OPERATION,
    update_continuous_backups.OPERATION,
    describe_continuous_backups.OPERATION,
    create_backup.OPERATION,
    describe_backup.OPERATION,
    list_backups.OPERATION,
    delete_backup.OPERATION,
    restore_table_from_backup.OPERATION,
    restore_table_to_point_in_time.OPERATION,
    export_table_to_point_in_time.OPERATION,
    describe_export.OPERATION,
    list_exports.OPERATION,
    import_table.OPERATION,
    describe_import.OPERATION,
    list_imports.OPERATION,
    start_bulk_put_items.OPERATION,
    describe_bulk_operation.OPERATION,
    list_bulk_operations.OPERATION,
    cancel_bulk_operation.OPERATION,
    describe_limits.OPERATION,
    describe_endpoints.OPERATION,
    list_streams.OPERATION,
    describe_stream.OPERATION,
    get_shard_iterator.OPERATION,
    get_records.OPERATION,
)

MAPPINGS = "/2015-03-31/event-source-mappings"
MAPPING = MAPPINGS + "/{UUID}"

REST_OPERATIONS: tuple[RestOperation, ...] = (
    RestOperation("POST", MAPPINGS, 202, create_event_source_mapping.OPERATION),
    RestOperation("GET", MAPPINGS, 200, list_event_source_mappings.OPERATION),
    RestOperation("GET", MAPPING, 200, get_event_source_mapping.OPERATION),
    RestOperation("PUT", MAPPING, 202, update_event_source_mapping.OPERATION),
    RestOperation("DELETE", MAPPING, 202, delete_event_source_mapping.OPERATION),
)
