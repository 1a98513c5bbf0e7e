"""The expressions of Query and Scan, or the older parameters that say the same.

What a filter and a projection say in the older parameters is checked first, before anything else of the request;
so it is parsed by functions of its own, and joined with the rest later.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from hashrange.errors import ValidationException
from hashrange.expressions import Condition, Prepared, Projection, prepare
from hashrange.expressions.legacy import parse_attributes_to_get, parse_filter, parse_key_conditions
from hashrange.operations.operation import Request

KEY_CONDITION_REQUIRED = (
    "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
)


class Legacy(NamedTuple):
    """QueryFilter or ScanFilter, and AttributesToGet."""

    filter: Condition | None
    projection: Projection | None


NO_LEGACY = Legacy(None, None)


def parse_legacy_query(request: Request) -> Legacy:
    if request.members.keys().isdisjoint(("QueryFilter", "ConditionalOperator", "AttributesToGet")):
        return NO_LEGACY
    filter = parse_filter(request.get("QueryFilter"), request.get("ConditionalOperator"))
    return Legacy(filter, _attributes_to_get(request))


def parse_legacy_scan(request: Request) -> Legacy:
    projection = _attributes_to_get(request)
    return Legacy(parse_filter(request.get("ScanFilter"), request.get("ConditionalOperator")), projection)


def _attributes_to_get(request: Request) -> Projection | None:
    names = request.get("AttributesToGet")
    return None if names is None else parse_attributes_to_get(names)


def prepare_query(request: Request, legacy: Legacy) -> Prepared:
    """KeyConditions may come with expressions for the filter and the projection."""
    get = request.get
    conditions = get("KeyConditions")
    if conditions is None and "KeyConditionExpression" not in request:
        raise ValidationException(KEY_CONDITION_REQUIRED)
    key_condition = None if conditions is None else parse_key_conditions(conditions)
    prepared = prepare(
        names=get("ExpressionAttributeNames"),
        values=get("ExpressionAttributeValues"),
        key_condition=get("KeyConditionExpression"),
        filter=get("FilterExpression"),
        projection=get("ProjectionExpression"),
        value_expressions=("FilterExpression", "KeyConditionExpression"),
    )
    if key_condition is None:  # then there is nothing else of the older kind either: that would be mixing
        return prepared
    key_condition.check_shape()
    return joined(replace(prepared, key_condition=key_condition), legacy)


def prepare_scan(request: Request, legacy: Legacy) -> Prepared:
    get = request.get
    prepared = prepare(
        names=get("ExpressionAttributeNames"),
        values=get("ExpressionAttributeValues"),
        filter=get("FilterExpression"),
        projection=get("ProjectionExpression"),
        value_expressions=("FilterExpression",),
    )
    return joined(prepared, legacy)


def joined(prepared: Prepared, legacy: Legacy) -> Prepared:
    """Both kinds together; no request has both a filter expression and an older filter, or two projections."""
    if legacy.filter is None and legacy.projection is None:
        return prepared
    return replace(
        prepared, filter=legacy.filter or prepared.filter, projection=legacy.projection or prepared.projection
    )
