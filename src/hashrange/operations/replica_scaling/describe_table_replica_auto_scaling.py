"""DescribeTableReplicaAutoScaling: how the capacities of a table and of its indexes are scaled."""

from __future__ import annotations

from typing import Any

from hashrange.engine import lifecycle
from hashrange.engine.database import Database
from hashrange.engine.scope import resolve_table
from hashrange.operations.operation import Operation, Request
from hashrange.operations.replica_scaling.settings import describe, targets_of


def describe_table_replica_auto_scaling(db: Database, request: Request) -> dict[str, Any]:
    scope, name = resolve_table(request.scope, request["TableName"])
    with db.read() as snapshot:
        table = lifecycle.existing_table(db, snapshot, scope, name).definition
        return {"TableAutoScalingDescription": describe(table, targets_of(snapshot, scope, table))}


OPERATION = Operation(name="DescribeTableReplicaAutoScaling", run=describe_table_replica_auto_scaling)
