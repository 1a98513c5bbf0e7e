"""PartiQL: a second grammar for the same engine.

    tokens -> parse_statement -> statements                 (text; the same text is read once)
      parser < parse_literal < parse_expression < parse_changes < parse_statement
    where, alteration, projection                           (what becomes of clauses: key ranges, conditions, updates)
    prepare                                                 (a statement with the parameters of a request)

Conditions and updates become trees of `hashrange.expressions`, and from there on they are expressions.
"""

from hashrange.partiql.prepare import Prepared, prepare
from hashrange.partiql.statements import Delete, Exists, Insert, Select, UpdateStatement

__all__ = [
    "Delete",
    "Exists",
    "Insert",
    "Prepared",
    "Select",
    "UpdateStatement",
    "prepare",
]
