"""Conditions on several attributes: Expected for writes, QueryFilter and ScanFilter for reads.

All must hold, or with a ConditionalOperator of OR, one of them. An empty map is no condition at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hashrange.errors import ValidationException
from hashrange.expressions.ast import And, Comparison, ConditionNode, Constant, Function, Or, Path
from hashrange.expressions.condition import Condition
from hashrange.expressions.legacy.comparisons import check_arguments, comparison, invalid
from hashrange.limits import EXPRESSION_OPERATORS_MAX
from hashrange.values.attribute import check_value

# A filter is tested on every item of a page, so it may not be much larger than a filter expression could be.
FILTER_CONDITIONS_MAX = EXPRESSION_OPERATORS_MAX

_WITHOUT_ARGUMENTS = ("NULL", "NOT_NULL")

Conditions = Mapping[str, Mapping[str, Any]]
"""Attribute names and what is asked of them, as they stand in the request."""


def parse_filter(filters: Conditions | None, conditional_operator: str | None) -> Condition | None:
    """QueryFilter or ScanFilter, with the ConditionalOperator of the request."""
    _check_conditional_operator(conditional_operator, filters)
    if not filters:
        return None
    if len(filters) > FILTER_CONDITIONS_MAX:
        raise invalid(f"The filter contains too many conditions; condition count: {len(filters)}")
    return _joined([_filtered(attribute, wanted) for attribute, wanted in filters.items()], conditional_operator)


def parse_expected(expected: Conditions | None, conditional_operator: str | None) -> Condition | None:
    """Expected, with the ConditionalOperator of the request."""
    _check_conditional_operator(conditional_operator, expected)
    if not expected:
        return None
    return _joined([_expected(attribute, wanted) for attribute, wanted in expected.items()], conditional_operator)


def _check_conditional_operator(conditional_operator: str | None, conditions: Conditions | None) -> None:
    if conditional_operator is None:
        return
    if not conditions:
        raise invalid("ConditionalOperator cannot be used without Filter or Expected")
    if len(conditions) == 1:
        raise invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")


def _joined(conditions: Sequence[ConditionNode], conditional_operator: str | None) -> Condition:
    if len(conditions) == 1:
        return Condition(conditions[0], {})
    join = Or if conditional_operator == "OR" else And
    return Condition(join(tuple(conditions)), {})


def _filtered(attribute: str, wanted: Mapping[str, Any]) -> ConditionNode:
    arguments = wanted.get("AttributeValueList", ())
    check_arguments(wanted["ComparisonOperator"], arguments)
    return comparison(attribute, wanted["ComparisonOperator"], arguments)


def _expected(attribute: str, wanted: Mapping[str, Any]) -> ConditionNode:
    """Expected has two styles: Exists and Value, or ComparisonOperator and AttributeValueList."""
    if "Value" in wanted and "AttributeValueList" in wanted:
        raise _misused("Value and AttributeValueList cannot be used together", attribute)
    if "ComparisonOperator" in wanted:
        return _expected_comparison(attribute, wanted)
    if "AttributeValueList" in wanted:
        raise _misused("AttributeValueList can only be used with a ComparisonOperator", attribute)
    return _expected_value(attribute, wanted)


def _expected_comparison(attribute: str, wanted: Mapping[str, Any]) -> ConditionNode:
    """Value may stand for a list of one."""
    operator = wanted["ComparisonOperator"]
    if "Exists" in wanted:
        raise _misused("Exists and ComparisonOperator cannot be used together", attribute)
    arguments = [wanted["Value"]] if "Value" in wanted else wanted.get("AttributeValueList")
    if arguments is None and operator not in _WITHOUT_ARGUMENTS:
        raise _misused(f"Value or AttributeValueList must be used with ComparisonOperator: {operator}", attribute)
    check_arguments(operator, arguments or ())
    return comparison(attribute, operator, arguments or ())


def _expected_value(attribute: str, wanted: Mapping[str, Any]) -> ConditionNode:
    exists, value = wanted.get("Exists"), wanted.get("Value")
    if exists is False:
        if value is not None:
            raise _misused("Value cannot be used when Exists is false", attribute)
        return Function("attribute_not_exists", (Path((attribute,)),))
    if value is None:
        raise _misused(f"Value must be provided when Exists is {'true' if exists else 'null'}", attribute)
    check_value(value)
    return Comparison("=", Path((attribute,)), Constant(value))


def _misused(rule: str, attribute: str) -> ValidationException:
    return invalid(f"{rule} for Attribute: {attribute}")
