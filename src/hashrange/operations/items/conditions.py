"""What a write is asked to do and on which condition: in expressions, or with the older parameters.

The older ones, AttributeUpdates and Expected, are checked before any expression. A request with both kinds has been
refused before it comes here.
"""

from __future__ import annotations

from hashrange.expressions import NO_EXPRESSIONS, Prepared, prepare
from hashrange.expressions.legacy import parse_attribute_updates, parse_expected
from hashrange.operations.operation import Request

PARAMETERS = (
    "AttributeUpdates",
    "Expected",
    "ConditionalOperator",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "UpdateExpression",
    "ConditionExpression",
)
PUT_OR_DELETE = ("ConditionExpression",)
UPDATE = ("UpdateExpression", "ConditionExpression")


def prepare_write(request: Request, value_expressions: tuple[str, ...]) -> Prepared:
    """Check and compile the update and the condition of PutItem, UpdateItem or DeleteItem."""
    if request.members.keys().isdisjoint(PARAMETERS):
        return NO_EXPRESSIONS  # as for most puts and deletions
    get = request.get
    is_update = value_expressions == UPDATE
    update = parse_attribute_updates(get("AttributeUpdates")) if is_update else None
    condition = parse_expected(get("Expected"), get("ConditionalOperator"))
    prepared = prepare(
        names=get("ExpressionAttributeNames"),
        values=get("ExpressionAttributeValues"),
        update=get("UpdateExpression") if is_update else None,
        condition=get("ConditionExpression"),
        value_expressions=value_expressions,
    )
    if update is None and condition is None:
        return prepared
    return Prepared(update=update, condition=condition)
