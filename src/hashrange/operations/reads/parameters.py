"""The expressions of Query and Scan, or the older parameters that say the same."""

from __future__ import annotations

from hashrange.errors import ValidationException
from hashrange.expressions import Prepared, prepare
from hashrange.operations.operation import Request

KEY_CONDITION_REQUIRED = (
    "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
)


def prepare_query(request: Request) -> Prepared:
    get = request.get
    if "KeyConditionExpression" not in request:
        raise ValidationException(KEY_CONDITION_REQUIRED)
    return prepare(
        names=get("ExpressionAttributeNames"),
        values=get("ExpressionAttributeValues"),
        key_condition=get("KeyConditionExpression"),
        filter=get("FilterExpression"),
        projection=get("ProjectionExpression"),
        value_expressions=("FilterExpression", "KeyConditionExpression"),
    )


def prepare_scan(request: Request) -> Prepared:
    get = request.get
    return prepare(
        names=get("ExpressionAttributeNames"),
        values=get("ExpressionAttributeValues"),
        filter=get("FilterExpression"),
        projection=get("ProjectionExpression"),
        value_expressions=("FilterExpression",),
    )
