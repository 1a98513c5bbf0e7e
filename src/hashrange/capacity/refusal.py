"""What a throttled request is told."""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.capacity.limits import Cause
from hashrange.engine.definition import PROVISIONED
from hashrange.engine.table import Table
from hashrange.engine.usage import Throttle
from hashrange.errors import (
    ProvisionedThroughputExceededException,
    RequestLimitExceeded,
    Throttled,
    ThrottlingException,
)

TABLE_EXCEEDED = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)
INDEX_EXCEEDED = (
    "The level of configured provisioned throughput for one or more global secondary indexes of the table was "
    "exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes "
    "with the UpdateTable API"
)
HOT_KEYS = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
TABLE_GROWS = (
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or "
    f"index so please try again shortly. If exceptions persist, check if you have a hot key: {HOT_KEYS}"
)
INDEX_GROWS = (
    "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB is automatically "
    f"scaling your index so please try again shortly. If exceptions persist, check if you have a hot key: {HOT_KEYS}"
)
ABOVE_MAXIMUM = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
ABOVE_QUOTA = (
    "Throughput exceeds the current throughput limit for your account. "
    "To request a limit increase, contact AWS Support at https://aws.amazon.com/support"
)


def reason_of(index: str | None, kind: str, cause: Cause) -> str:
    """For example TableReadProvisionedThroughputExceeded."""
    return f"{'Table' if index is None else 'Index'}{kind}{cause}"


def refusal(table: Table, throttles: Sequence[tuple[Throttle, Cause]]) -> Throttled:
    """The error about everything that was exceeded at once; the first gives it its name."""
    reasons = [
        {
            "reason": throttle.reason,
            "resource": table.arn if throttle.index is None else f"{table.arn}/index/{throttle.index}",
        }
        for throttle, _ in throttles
    ]
    first, cause = throttles[0]
    if cause is Cause.ACCOUNT:
        return RequestLimitExceeded(ABOVE_QUOTA, ThrottlingReasons=reasons)
    if cause is Cause.ON_DEMAND_MAXIMUM:
        return ThrottlingException(ABOVE_MAXIMUM, throttlingReasons=reasons)
    if table.definition.billing_mode == PROVISIONED:
        text = TABLE_EXCEEDED if first.index is None else INDEX_EXCEEDED
        return ProvisionedThroughputExceededException(text, ThrottlingReasons=reasons)
    return ThrottlingException(TABLE_GROWS if first.index is None else INDEX_GROWS, throttlingReasons=reasons)
