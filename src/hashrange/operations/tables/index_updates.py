"""Global secondary indexes that come and go on a living table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hashrange.engine.definition import PROVISIONED, IndexDefinition, TableDefinition
from hashrange.engine.lifecycle import IN_USE
from hashrange.errors import (
    LimitExceededException,
    ResourceInUseException,
    ResourceNotFoundException,
    ValidationException,
)
from hashrange.limits import GLOBAL_INDEXES_MAX
from hashrange.operations.operation import Request
from hashrange.operations.tables import schema
from hashrange.operations.tables.schema import invalid

Wire = Mapping[str, Any]
ACTIONS = ("Update", "Create", "Delete")
ONE_AT_A_TIME = "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"


def check_index_updates(updates: list[Wire]) -> None:
    """Each element says one thing about one index."""
    seen: set[str] = set()
    for update in updates:
        actions = [name for name in ACTIONS if update.get(name) is not None]
        if not actions:
            raise invalid(
                "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                "GlobalSecondaryIndexUpdate.Delete must not be null"
            )
        if len(actions) > 1:
            raise invalid("Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object")
        name = update[actions[0]]["IndexName"]
        if name in seen:
            raise invalid(f"Only one global secondary index update per index is allowed simultaneously. Index: {name}")
        if (update.get("Update") or {}).get("WarmThroughput") == {}:
            raise invalid(
                "WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified "
                f"for index: {name}"
            )
        seen.add(name)


def structural(updates: list[Wire]) -> list[Wire]:
    """The elements that create or delete an index, of which one at a time is allowed."""
    return [update for update in updates if update.get("Update") is None]


def begin_index_change(table: TableDefinition, request: Request) -> tuple[TableDefinition, TableDefinition]:
    """The table while an index is created or deleted, and what it settles into."""
    changes = structural(request.get("GlobalSecondaryIndexUpdates") or [])
    change = changes[0]
    if len(changes) > 1 or any(_is_in_the_way(index, change) for index in table.indexes):
        raise LimitExceededException(ONE_AT_A_TIME)
    if change.get("Create") is not None:
        return begin_create(table, change["Create"], request.get("AttributeDefinitions"))
    return begin_delete(table, change["Delete"]["IndexName"])


def _is_in_the_way(index: IndexDefinition, change: Wire) -> bool:
    """An index that comes or goes lets no other one start, but one that comes may itself be told to go."""
    goes = change.get("Delete") is not None and change["Delete"]["IndexName"] == index.name
    return index.status == "DELETING" or (index.status == "CREATING" and not goes)


def begin_create(
    table: TableDefinition, create: Wire, definitions: list[Wire] | None
) -> tuple[TableDefinition, TableDefinition]:
    """First the index is only announced; once the table is ACTIVE again its entries are filled in."""
    name = create["IndexName"]
    if table.index(name) is not None:
        raise ValidationException("Attempting to create an index which already exists")
    if definitions is None and not all(e["AttributeName"] in table.attribute_types for e in create["KeySchema"]):
        raise invalid(f"AttributeDefinitions is not specified for index: {name}")
    types = merged_types(table, definitions or [])
    index = schema.global_index(
        create,
        table.last_index_number + 1,
        types,
        provisioned=table.billing_mode == PROVISIONED,
        region=table.region,
    )
    index = replace(index, status="CREATING")
    changed = replace(
        table,
        attribute_types=used_types(types, (*table.indexes, index), table),
        indexes=(*table.indexes, index),
        last_index_number=index.number,
    )
    if len(changed.global_indexes) > GLOBAL_INDEXES_MAX:
        raise LimitExceededException(
            "Subscriber limit exceeded: Number of global secondary indexes "
            f"exceeds per-table limit of {GLOBAL_INDEXES_MAX}"
        )
    schema.check_index_names(changed.indexes)
    return changed, changed.with_index(replace(index, backfilling=True))


def merged_types(table: TableDefinition, definitions: list[Wire]) -> dict[str, str]:
    """The attribute types of the table together with those of the request, which may not contradict them."""
    given = schema.attribute_types(definitions)
    for name, kind in given.items():
        if table.attribute_types.get(name, kind) != kind:
            raise invalid(
                "Attributes cannot be redefined. Please check that your attribute has the same type "
                f"as previously defined. Existing schema: {_printed(table, table.attribute_types)} "
                f"New schema: {_printed(table, {**table.attribute_types, **given})}"
            )
    return {**table.attribute_types, **given}


def _printed(table: TableDefinition, types: Mapping[str, str]) -> str:
    kinds = {**dict.fromkeys(table.key.partition, "HASH"), **dict.fromkeys(table.key.sort, "RANGE")}
    keys = ",".join(f"{name}:{types[name]}:{kind}" for name, kind in kinds.items())
    return f"Schema:[SchemaElement: key{{{keys}}}]"


def used_types(
    types: Mapping[str, str], indexes: tuple[IndexDefinition, ...], table: TableDefinition
) -> dict[str, str]:
    """The types of attributes that some key uses; the others are forgotten."""
    used = {name for key in (table.key, *(index.key for index in indexes)) for name in key.names}
    return {name: kind for name, kind in types.items() if name in used}


def begin_delete(table: TableDefinition, name: str) -> tuple[TableDefinition, TableDefinition]:
    index = require_global(table, name)
    if index.status == "CREATING" and not index.backfilling:
        raise ResourceInUseException(
            f"{IN_USE}Index creation is in resource allocation phase. Retry deletion during backfilling phase "
            f"or when the index is active. Table: {table.name} Index: {name}"
        )
    remaining = tuple(each for each in table.indexes if each.name != name)
    outcome = replace(table, indexes=remaining, attribute_types=used_types(table.attribute_types, remaining, table))
    return table.with_index(replace(index, status="DELETING")), outcome


def require_global(table: TableDefinition, name: str) -> IndexDefinition:
    index = table.index(name)
    if index is None:
        raise ResourceNotFoundException(f"Requested resource not found: Index {name} for table {table.name}")
    if index not in table.global_indexes:
        raise ValidationException(f"Cannot delete an index that is not a GlobalSecondaryIndex: {name}")
    return index
