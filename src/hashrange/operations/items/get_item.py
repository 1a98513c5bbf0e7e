"""GetItem: read one item by its primary key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from hashrange.engine.database import Database
from hashrange.engine.units import Consumed, read_units
from hashrange.engine.usage import READ, Use
from hashrange.operations.items.parameters import refuse_mixing, report_consumed
from hashrange.operations.operation import Operation, Request
from hashrange.values.attribute import check_attributes
from hashrange.values.item import Item, stored_fragment, stored_size
from hashrange.values.types import Attributes

if TYPE_CHECKING:
    from hashrange.expressions import Projection


def get_item(db: Database, request: Request) -> dict[str, Any]:
    members = request.members
    if "AttributesToGet" in members:
        refuse_mixing(members.keys(), ("AttributesToGet",), ("ProjectionExpression",))
    key: Attributes = members["Key"]
    check_attributes(key)
    projection = parse_projection(request)

    with db.read() as snapshot:
        table = db.table(snapshot, request.scope, members["TableName"])
        base_key = table.key.of_key(key)
        stored = snapshot.get(table.item_prefix + base_key)

    size_bytes = 0 if stored is None else stored_size(stored)
    consumed = Consumed(read_units(size_bytes, consistent=request.get("ConsistentRead", False)))
    db.spend(request.usage, Use(table, READ, consumed, base_key, (key,)))
    answer = report_consumed(request, table, consumed)
    if stored is not None:
        answer["Item"] = shown(stored, projection)
    return answer


def parse_projection(request: Request) -> Projection | None:
    """The attributes that a read asks for, or None for all of them."""
    attributes = request.get("AttributesToGet")
    expression = request.get("ProjectionExpression")
    names = request.get("ExpressionAttributeNames")
    if attributes is None and expression is None and names is None:
        return None
    # The first answer of a server does not wait for what loads here.
    legacy: Projection | None = None
    if attributes is not None:
        from hashrange.expressions.legacy import parse_attributes_to_get

        legacy = parse_attributes_to_get(attributes)
    if expression is None and names is None:
        return legacy
    from hashrange.expressions.request import prepare

    return prepare(names=names, values=None, projection=expression, value_expressions=()).projection


def shown(stored: bytes, projection: Projection | None) -> orjson.Fragment | Attributes:
    """What is asked for of a stored item. A whole one is passed on without looking inside."""
    return stored_fragment(stored) if projection is None else projection(Item.load(stored).attributes)


OPERATION = Operation(name="GetItem", run=get_item)
