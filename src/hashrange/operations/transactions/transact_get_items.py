"""TransactGetItems: read up to a hundred items as they are at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.table import Table
from hashrange.engine.units import Consumed, read_units
from hashrange.engine.usage import READ, Use
from hashrange.errors import Throttled, ValidationException
from hashrange.expressions import Projection
from hashrange.limits import TRANSACTION_BYTES_MAX
from hashrange.operations.items.get_item import parse_projection
from hashrange.operations.operation import Operation, Request
from hashrange.operations.transactions.transaction import Reasons, locate
from hashrange.storage.interface import Snapshot
from hashrange.values.attribute import check_attributes
from hashrange.values.item import Item
from hashrange.values.types import Attributes


@dataclass(frozen=True, slots=True)
class Get:
    """One item to read."""

    table_name: str
    key: Attributes
    projection: Projection | None

    def locate(self, table: Table) -> bytes:
        return table.key.of_key(self.key)


def transact_get_items(db: Database, request: Request) -> dict[str, Any]:
    gets = [parse_get(element["Get"], request) for element in request["TransactItems"]]
    with db.read() as snapshot:
        items, consumed = read_together(db, snapshot, request, gets)
    answer: dict[str, Any] = {"Responses": [shown(get, item) for get, item in zip(gets, items, strict=True)]}
    level = request.get("ReturnConsumedCapacity", "NONE")
    if level != "NONE":
        answer["ConsumedCapacity"] = [
            units.report(level, table.name, kind="ReadCapacityUnits") for table, units in consumed.values()
        ]
    return answer


def parse_get(members: dict[str, Any], request: Request) -> Get:
    check_attributes(members["Key"])
    return Get(members["TableName"], members["Key"], parse_projection(Request(members, request.scope)))


def read_together(
    db: Database, snapshot: Snapshot, request: Request, gets: list[Get]
) -> tuple[list[Item | None], dict[str, tuple[Table, Consumed]]]:
    """All items from one snapshot, with the units they cost by table."""
    tables = [db.table(snapshot, request.scope, get.table_name) for get in gets]
    reasons = Reasons(len(gets))
    keys = locate(tables, gets, reasons)
    reasons.raise_if_any()
    items: list[Item | None] = []
    consumed: dict[str, tuple[Table, Consumed]] = {}
    for position, (get, table, key) in enumerate(zip(gets, tables, keys, strict=True)):
        assert key is not None
        item = table.get(snapshot, key)
        items.append(item)
        units = Consumed(2 * read_units(item.size_bytes if item else 0, consistent=True))
        try:
            db.spend(request.usage, Use(table, READ, units, key, (get.key,)))
        except Throttled as error:
            reasons.add(position, error)
        consumed.setdefault(table.arn, (table, Consumed()))[1].include(units)
    reasons.raise_if_any()
    if sum(item.size_bytes for item in items if item is not None) > TRANSACTION_BYTES_MAX:
        raise ValidationException("Aggregated size of the items in the transaction size cannot exceed 4 MB")
    return items, consumed


def shown(get: Get, item: Item | None) -> dict[str, Any]:
    """One response: nothing for a missing item, and nothing when no requested attribute is there."""
    if item is None:
        return {}
    if get.projection is None:
        return {"Item": item.fragment}
    projected = get.projection(item.attributes)
    return {"Item": projected} if projected else {}


OPERATION = Operation(name="TransactGetItems", run=transact_get_items)
