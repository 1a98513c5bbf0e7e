"""DescribeLimits: the capacity quotas of the account."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.limits import ACCOUNT_CAPACITY_UNITS_MAX, TABLE_CAPACITY_UNITS_MAX
from hashrange.operations.operation import Operation, Request


def describe_limits(db: Database, request: Request) -> dict[str, Any]:
    return {
        "AccountMaxReadCapacityUnits": ACCOUNT_CAPACITY_UNITS_MAX,
        "AccountMaxWriteCapacityUnits": ACCOUNT_CAPACITY_UNITS_MAX,
        "TableMaxReadCapacityUnits": TABLE_CAPACITY_UNITS_MAX,
        "TableMaxWriteCapacityUnits": TABLE_CAPACITY_UNITS_MAX,
    }


OPERATION = Operation(name="DescribeLimits", run=describe_limits)
