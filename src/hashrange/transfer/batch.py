"""The items of one step of an import or bulk operation: read and checked outside the store, written in one plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import orjson

from hashrange.engine.table import Changes, ItemChange, Table, require_scalar_keys
from hashrange.errors import ClientError, ValidationException
from hashrange.expressions import Prepared, prepare
from hashrange.limits import ITEM_SIZE_BYTES_MAX
from hashrange.storage.interface import Snapshot
from hashrange.transfer.input_formats import Put
from hashrange.transfer.source import Bad, Place, Source, shown
from hashrange.values.attribute import MalformedValue, check_attributes
from hashrange.values.item import Item
from hashrange.values.types import Attributes

ITEMS_MAX = 1000
ITEM_BYTES_MAX = 4 * 1024 * 1024
INPUT_BYTES_MAX = 16 * 1024 * 1024  # a step ends even if nothing of what it reads is an item
RECORDS_MAX = 10_000

ITEM_TOO_LARGE = "Item size has exceeded the maximum allowed size"
NOTHING: Attributes = {}


@dataclass(frozen=True, slots=True)
class Entry:
    """An item that may be put, as far as that can be known without looking at what is there."""

    base_key: bytes
    item: Item
    prepared: Prepared


@dataclass(frozen=True, slots=True)
class Refused:
    """An entry whose condition was false, and what it met."""

    entry: Entry
    existing: Item | None


@dataclass(slots=True)
class Batch:
    """What a step has read. Keys differ, so the entries can be written in one plan."""

    place: Place
    entries: dict[bytes, Entry] = field(default_factory=dict)
    bad: list[Bad] = field(default_factory=list)
    records: int = 0
    size_bytes: int = 0
    is_last: bool = False


def read_batch(source: Source, table: Table, now_micros: int, *, may_replace: bool) -> Batch:
    """The next entries. Of two with the same key only the later one counts if `may_replace`; else it waits for the
    next batch, so that what reads the changes of the table sees both."""
    batch = Batch(source.place)
    item_bytes = 0
    for reading in source:
        found = reading.found
        result = found if not isinstance(found, Put) else checked(found, table, now_micros)
        if isinstance(result, Entry) and result.base_key in batch.entries and not may_replace:
            source.give_back(reading, batch.place)
            return batch
        batch.place = reading.place
        batch.size_bytes += reading.size_bytes
        batch.records += result is not None
        if isinstance(result, Bad):
            batch.bad.append(result)
        elif result is not None:
            batch.entries[result.base_key] = result
            item_bytes += len(result.item.json)
        if (
            len(batch.entries) >= ITEMS_MAX
            or item_bytes >= ITEM_BYTES_MAX
            or batch.size_bytes >= INPUT_BYTES_MAX
            or batch.records >= RECORDS_MAX
        ):
            return batch
    batch.is_last = True
    return batch


def checked(put: Put, table: Table, now_micros: int) -> Entry | Bad:
    """The entry of a put, by the same rules that PutItem has."""
    attributes = put.item
    try:
        size_bytes = check_attributes(attributes)
        if size_bytes > ITEM_SIZE_BYTES_MAX:
            raise ValidationException(ITEM_TOO_LARGE)
        base_key = table.key.of_item(attributes)
        if table.indexes:
            table.check_index_keys(attributes)
        prepared = condition_of(put, table)
    except ClientError as error:
        return Bad(str(error.message), shown(attributes))
    except MalformedValue:
        return Bad("An attribute value has the wrong JSON type", shown(attributes))
    return Entry(base_key, Item(orjson.dumps(attributes), size_bytes, now_micros, attributes), prepared)


def condition_of(put: Put, table: Table) -> Prepared:
    if not put.condition:
        return prepare()
    condition = put.condition.get("ConditionExpression")
    if condition is not None and not isinstance(condition, str):
        raise MalformedValue
    prepared = prepare(
        names=put.condition.get("ExpressionAttributeNames"),
        values=put.condition.get("ExpressionAttributeValues"),
        condition=condition,
        value_expressions=("ConditionExpression",),
    )
    if prepared.condition is not None:
        require_scalar_keys(table, prepared.condition.paths)
    return prepared


def write_batch(
    snapshot: Snapshot, table: Table, batch: Batch, changes: Changes, refused: Callable[[Refused], None]
) -> list[Bad]:
    """Put the entries of a batch. Those that the table refuses come back; nothing of them is written."""
    bad: list[Bad] = []
    for entry in batch.entries.values():
        old = table.get(snapshot, entry.base_key)
        condition = entry.prepared.condition
        met = NOTHING if old is None or condition is None else old.attributes
        if condition is not None and not condition(met, entry.prepared.values):
            refused(Refused(entry, old))
            continue
        mutations, adds = len(changes.mutations), len(changes.adds)
        try:
            table.change(snapshot, ItemChange(table, entry.base_key, old, entry.item), changes)
        except ClientError as error:
            del changes.mutations[mutations:], changes.adds[adds:]
            bad.append(Bad(str(error.message), shown(entry.item.json)))
    return bad
