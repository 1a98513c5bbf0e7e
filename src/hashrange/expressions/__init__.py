"""Expressions: text to tokens, to a tree, to functions that test, change or cut down items.

An operation calls `prepare` with the texts and placeholders of its request and gets back objects to call. Texts
are parsed and compiled once and remembered; evaluating never looks at text.

    tokens -> parse_condition | parse_update | parse_projection -> ast          (rules of the text alone)
    condition_checks | update_checks | projection                               (rules of names and values)
    condition | update | projection | key_condition                             (evaluation)
    request, placeholders, cache                                                (one request's expressions together)
"""

from hashrange.expressions.condition import Condition
from hashrange.expressions.key_condition import KeyClause, KeyCondition, KeyRange
from hashrange.expressions.kinds import Kind
from hashrange.expressions.projection import Projection
from hashrange.expressions.request import NO_EXPRESSIONS, Prepared, prepare
from hashrange.expressions.update import Update

__all__ = [
    "NO_EXPRESSIONS",
    "Condition",
    "KeyClause",
    "KeyCondition",
    "KeyRange",
    "Kind",
    "Prepared",
    "Projection",
    "Update",
    "prepare",
]
