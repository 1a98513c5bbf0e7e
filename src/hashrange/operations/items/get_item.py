"""GetItem: read one item by its primary key."""

from __future__ import annotations

from typing import Any

from hashrange.engine.database import Database
from hashrange.engine.units import Consumed, read_units
from hashrange.engine.usage import READ, Use
from hashrange.expressions import Projection, prepare
from hashrange.expressions.legacy import parse_attributes_to_get
from hashrange.operations.items.parameters import refuse_mixing, report_consumed
from hashrange.operations.operation import Operation, Request
from hashrange.values.attribute import check_attributes
from hashrange.values.types import Attributes


def get_item(db: Database, request: Request) -> dict[str, Any]:
    refuse_mixing(request, ("AttributesToGet",), ("ProjectionExpression",))
    key: Attributes = request["Key"]
    check_attributes(key)
    projection = parse_projection(request)

    with db.read() as snapshot:
        table = db.table(snapshot, request.scope, request["TableName"])
        base_key = table.key.of_key(key)
        item = table.get(snapshot, base_key)

    size_bytes = 0 if item is None else item.size_bytes
    consumed = Consumed(read_units(size_bytes, consistent=request.get("ConsistentRead", False)))
    db.spend(request.usage, Use(table, READ, consumed, base_key, (key,)))
    answer = report_consumed(request, table, consumed)
    if item is not None:
        answer["Item"] = item.fragment if projection is None else projection(item.attributes)
    return answer


def parse_projection(request: Request) -> Projection | None:
    """The attributes that a read asks for, or None for all of them."""
    attributes = request.get("AttributesToGet")
    legacy = None if attributes is None else parse_attributes_to_get(attributes)
    expression = request.get("ProjectionExpression")
    names = request.get("ExpressionAttributeNames")
    if expression is None and names is None:
        return legacy
    return prepare(names=names, values=None, projection=expression, value_expressions=()).projection


OPERATION = Operation(name="GetItem", run=get_item)
