"""The table of contents of the API: every operation that works."""

from __future__ import annotations

from hashrange.operations.account import describe_endpoints, describe_limits
from hashrange.operations.batch import batch_get_item, batch_write_item
from hashrange.operations.items import delete_item, get_item, put_item, update_item
from hashrange.operations.operation import Operation
from hashrange.operations.partiql import batch_execute_statement, execute_statement, execute_transaction
from hashrange.operations.reads import query, scan
from hashrange.operations.streams import describe_stream, get_records, get_shard_iterator, list_streams
from hashrange.operations.tables import create_table, delete_table, describe_table, list_tables, update_table
from hashrange.operations.tags import list_tags_of_resource, tag_resource, untag_resource
from hashrange.operations.transactions import transact_get_items, transact_write_items
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
    describe_limits.OPERATION,
    describe_endpoints.OPERATION,
    list_streams.OPERATION,
    describe_stream.OPERATION,
    get_shard_iterator.OPERATION,
    get_records.OPERATION,
)
