"""The parameters that came before expressions: AttributesToGet, Expected, KeyConditions, QueryFilter, ScanFilter,
ConditionalOperator and AttributeUpdates.

They speak of top-level attributes only, and a dot is part of a name. Each becomes the tree that an expression would
have become, and so means exactly what expressions mean; only its rules and their wording are its own.

    comparisons      one attribute, an operator, arguments
    conditions       several of them: Expected, QueryFilter, ScanFilter
    key_conditions   KeyConditions
    updates          AttributeUpdates
    projection       AttributesToGet
"""

from hashrange.expressions.legacy.conditions import parse_expected, parse_filter
from hashrange.expressions.legacy.key_conditions import parse_key_conditions
from hashrange.expressions.legacy.projection import parse_attributes_to_get
from hashrange.expressions.legacy.updates import parse_attribute_updates

__all__ = [
    "parse_attribute_updates",
    "parse_attributes_to_get",
    "parse_expected",
    "parse_filter",
    "parse_key_conditions",
]
