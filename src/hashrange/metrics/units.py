"""In what each metric of AWS/DynamoDB is measured."""

from __future__ import annotations

from hashrange.metrics.points import DYNAMODB

COUNT = "Count"
UNITS = {
    "SuccessfulRequestLatency": "Milliseconds",
    "ReplicationLatency": "Milliseconds",
    "ReturnedBytes": "Bytes",
    "OnlineIndexPercentageProgress": "Percent",
    "AccountProvisionedReadCapacityUtilization": "Percent",
    "AccountProvisionedWriteCapacityUtilization": "Percent",
    "MaxProvisionedTableReadCapacityUtilization": "Percent",
    "MaxProvisionedTableWriteCapacityUtilization": "Percent",
}


def unit_of(namespace: str, metric: str, unit: str | None) -> str:
    """The unit that values are told in: DynamoDB's metrics have theirs, others the one that was asked for."""
    if namespace == DYNAMODB:
        return UNITS.get(metric, COUNT)
    return unit or "None"
