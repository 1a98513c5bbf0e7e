"""DescribeEndpoints: where clients that use endpoint discovery should send their requests."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.operations.operation import Operation, Request

CACHE_PERIOD_MINUTES = 1440


def describe_endpoints(db: Database, request: Request) -> dict[str, Any]:
    address = f"dynamodb.{request.scope.region}.amazonaws.com"
    return {"Endpoints": [{"Address": address, "CachePeriodInMinutes": CACHE_PERIOD_MINUTES}]}


OPERATION = Operation(name="DescribeEndpoints", run=describe_endpoints)
