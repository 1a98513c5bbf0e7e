"""BatchGetItem: read up to a hundred items by their primary keys, from any number of tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from hashrange.engine.database import Database
from hashrange.engine.table import Table
from hashrange.engine.units import Consumed, read_units
from hashrange.engine.usage import READ, Usage, Use
from hashrange.errors import Throttled, ValidationException
from hashrange.expressions import Projection
from hashrange.limits import BATCH_GET_KEYS_MAX, BATCH_GET_RESPONSE_BYTES_MAX
from hashrange.operations.items.get_item import parse_projection, shown
from hashrange.operations.items.parameters import refuse_mixing
from hashrange.operations.operation import Operation, Request
from hashrange.storage.interface import Snapshot
from hashrange.values.attribute import check_attributes
from hashrange.values.item import stored_size
from hashrange.values.types import Attributes

DUPLICATES = "Provided list of item keys contains duplicates"


@dataclass(frozen=True, slots=True)
class TableGet:
    """What is wanted from one table."""

    name: str
    request: Request
    keys: list[Attributes]
    projection: Projection | None
    consistent: bool


@dataclass(slots=True)
class Found:
    """What came of one table's keys. Those that found no room, or no capacity, are left for the next request."""

    items: list[Any]
    unprocessed: list[Attributes]
    consumed: Consumed
    throttled: Throttled | None = None


def batch_get_item(db: Database, request: Request) -> dict[str, Any]:
    tables_wanted: dict[str, dict[str, Any]] = request["RequestItems"]
    members = {member for wanted in tables_wanted.values() for member in wanted}  # even tables may not differ in kind
    refuse_mixing(members, ("AttributesToGet",), ("ProjectionExpression",))
    gets = [parse_table(name, Request(wanted, request.scope)) for name, wanted in tables_wanted.items()]
    if sum(len(get.keys) for get in gets) > BATCH_GET_KEYS_MAX:
        raise ValidationException("Too many items requested for the BatchGetItem call")

    with db.read() as snapshot:
        tables = [db.table(snapshot, request.scope, get.name) for get in gets]
        located = [[table.key.of_key(key) for key in get.keys] for table, get in zip(tables, gets, strict=True)]
        founds: list[Found] = []
        room = BATCH_GET_RESPONSE_BYTES_MAX
        for table, get, base_keys in zip(tables, gets, located, strict=True):
            found, room = read_table(db, snapshot, request.usage, table, get, base_keys, room)
            founds.append(found)
    refuse_if_nothing(founds)
    return answer(request, gets, tables, founds)


def parse_table(name: str, request: Request) -> TableGet:
    projection = parse_projection(request)
    keys: list[Attributes] = request["Keys"]
    duplicates = has_duplicates(keys)  # as sent: 1000 and 1e3 are two keys
    for key in keys:
        check_attributes(key)
    if duplicates:
        raise ValidationException(DUPLICATES)
    return TableGet(name, request, keys, projection, request.get("ConsistentRead", False))


def has_duplicates(keys: list[Attributes]) -> bool:
    try:
        return len({orjson.dumps(key, option=orjson.OPT_SORT_KEYS) for key in keys}) < len(keys)
    except orjson.JSONEncodeError:
        return False  # one is nested deeper than any attribute, and will be refused for it


def read_table(
    db: Database,
    snapshot: Snapshot,
    usage: Usage,
    table: Table,
    get: TableGet,
    base_keys: list[bytes],
    room: int,
) -> tuple[Found, int]:
    """Read a table's items while there is room in the answer, and capacity for each."""
    found = Found([], [], Consumed())
    limited = db.ledger.is_limited(table)
    projection, consistent = get.projection, get.consistent
    prefix = table.item_prefix
    stored = snapshot.get_many([prefix + base_key for base_key in base_keys])
    for key, base_key, value in zip(get.keys, base_keys, stored, strict=True):
        size_bytes = 0 if value is None else stored_size(value)
        if size_bytes > room:
            found.unprocessed.append(key)
            continue
        units = read_units(size_bytes, consistent=consistent)
        if limited and not spends(db, usage, found, Use(table, READ, Consumed(units), base_key, (key,))):
            found.unprocessed.append(key)
            continue
        room -= size_bytes
        found.consumed.table += units
        if value is not None:
            found.items.append(shown(value, projection))
    if not limited and found.consumed.table:
        left = found.unprocessed
        db.spend(
            usage,
            Use(table, READ, found.consumed, keys=[key for key in get.keys if key not in left] if left else get.keys),
        )
    return found, room


def spends(db: Database, usage: Usage, found: Found, use: Use) -> bool:
    """Whether there was capacity for one of the keys."""
    try:
        db.spend(usage, use)
    except Throttled as error:
        found.throttled = error
        return False
    return True


def refuse_if_nothing(founds: list[Found]) -> None:
    """A batch of which nothing could be done is refused like a single request."""
    throttled = [found.throttled for found in founds if found.throttled is not None]
    if throttled and not any(found.consumed.table for found in founds):
        raise throttled[0]


def answer(request: Request, gets: list[TableGet], tables: list[Table], founds: list[Found]) -> dict[str, Any]:
    members: dict[str, Any] = {"Responses": {}, "UnprocessedKeys": {}}
    for get, found in zip(gets, founds, strict=True):
        members["Responses"][get.name] = found.items
        if found.unprocessed:
            members["UnprocessedKeys"][get.name] = {**get.request.members, "Keys": found.unprocessed}
    level = request.get("ReturnConsumedCapacity", "NONE")
    if level != "NONE":
        consumed: dict[str, tuple[Table, Consumed]] = {}  # a table may be asked twice: by its name and by its ARN
        for table, found in zip(tables, founds, strict=True):
            consumed.setdefault(table.arn, (table, Consumed()))[1].include(found.consumed)
        members["ConsumedCapacity"] = [
            units.report(level, table.name) for table, units in consumed.values() if units.total
        ]
    return members


OPERATION = Operation(name="BatchGetItem", run=batch_get_item)
