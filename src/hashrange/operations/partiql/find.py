"""What a statement is about: its table or index, and the item that its WHERE clause pins."""

from __future__ import annotations

from hashrange.engine.database import Database
from hashrange.engine.scope import Scope
from hashrange.engine.source import Source
from hashrange.engine.table import Table
from hashrange.errors import ValidationException
from hashrange.expressions.ast import Operand
from hashrange.expressions.checks import Values, constant_of
from hashrange.partiql.statements import TableName
from hashrange.partiql.where import KeyUse, Meaning, Where
from hashrange.storage.interface import Snapshot
from hashrange.values.types import Attributes, AttributeValue

NO_SUCH_INDEX = "The table does not have the specified index"
CONSISTENT_GLOBAL = "Strongly consistent read is not supported on Global Secondary Indexes"
SEVERAL_KEY_ATTRIBUTES = (
    "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys."
)
NOT_ON_INDEX = "This operation is not supported on an index"


def find_source(db: Database, snapshot: Snapshot, scope: Scope, name: TableName, *, consistent: bool) -> Source:
    """The table or index that is read, if it can be read this way."""
    table = db.table(snapshot, scope, name.name)
    if name.index is None:
        return Source.of(table, None)
    index = table.index(name.index)
    if index is None:
        raise ValidationException(NO_SUCH_INDEX)
    if index.is_global and consistent:
        raise ValidationException(CONSISTENT_GLOBAL)
    if not index.is_readable:
        raise ValidationException(f"Cannot read from backfilling global secondary index: {index.name}")
    if len(index.partition) > 1 or len(index.sort) > 1:
        raise ValidationException(SEVERAL_KEY_ATTRIBUTES)
    return Source.of(table, index)


def find_table(db: Database, snapshot: Snapshot, scope: Scope, name: TableName) -> Table:
    """The table that is written to."""
    table = db.table(snapshot, scope, name.name)
    if name.index is not None:
        raise ValidationException(NOT_ON_INDEX)
    return table


def use_of(where: Where, table: Table, meaning: Meaning) -> KeyUse:
    """What a WHERE clause says of a table's own key."""
    return where.for_key(table.key.partition_name, table.key.sort_name, meaning)


def pinned_key(table: Table, use: KeyUse, values: Values) -> Attributes | None:
    """The primary key, if the clause gives all of it by equality."""
    if len(use.partition_values) != 1:
        return None
    key = {table.key.partition_name: value_of(use.partition_values[0], values)}
    if table.key.sort_name is not None:
        if use.sort is None or use.sort.operator != "=":
            return None
        key[table.key.sort_name] = value_of(use.sort.operands[0], values)
    return key


def value_of(operand: Operand, values: Values) -> AttributeValue:
    constant = constant_of(operand)
    assert constant is not None
    return constant(values)
