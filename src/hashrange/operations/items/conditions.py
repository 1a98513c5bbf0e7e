"""The condition of a write, said as an expression or with the older Expected parameter."""

from __future__ import annotations

from hashrange.expressions import Prepared, prepare
from hashrange.operations.operation import Request

PUT_OR_DELETE = ("ConditionExpression",)
UPDATE = ("UpdateExpression", "ConditionExpression")


def prepare_write(request: Request, value_expressions: tuple[str, ...]) -> Prepared:
    """Check and compile the expressions of PutItem, UpdateItem or DeleteItem."""
    get = request.get
    return prepare(
        names=get("ExpressionAttributeNames"),
        values=get("ExpressionAttributeValues"),
        update=get("UpdateExpression") if value_expressions is UPDATE else None,
        condition=get("ConditionExpression"),
        value_expressions=value_expressions,
    )
