"""Time to live: a queue of items in the order in which they expire, kept true inside the writer's transaction.

The job that deletes expired items takes them from the front of this queue and never has to look at a table. An entry
is only a hint: before an item is deleted it is looked at again.
"""

from __future__ import annotations

from decimal import Decimal

from hashrange.engine import keyspace
from hashrange.engine.table import Changes, ItemChange, Table
from hashrange.limits import TTL_AGE_SECONDS_MAX
from hashrange.storage.interface import Snapshot
from hashrange.values.item import Item

SECONDS_MAX = 2**62  # later than any clock, and small enough for a queue key


def expires_at(item: Item | None, attribute: str) -> Decimal | None:
    """When an item expires, in epoch seconds; None if its attribute is missing or not a number of that kind."""
    value = item.attributes.get(attribute) if item is not None else None
    text = value.get("N") if value is not None else None
    if text is None or text.startswith("-"):
        return None
    seconds = Decimal(text)
    return seconds if seconds < SECONDS_MAX else None


def is_expired(item: Item, attribute: str, now_seconds: float) -> bool:
    """Past its time, but not so long past that the number can hardly have been meant as a time."""
    seconds = expires_at(item, attribute)
    return seconds is not None and now_seconds - TTL_AGE_SECONDS_MAX <= seconds < now_seconds


class ExpiryQueue:
    """Keeps the queue of one table."""

    __slots__ = ("_attribute", "_table_id")

    def __init__(self, table: Table, attribute: str) -> None:
        self._attribute = attribute
        self._table_id = table.definition.id

    def entry(self, item: Item | None, base_key: bytes) -> bytes | None:
        seconds = expires_at(item, self._attribute)
        return None if seconds is None else keyspace.expiring_item_key(self._table_id, int(seconds), base_key)

    def maintain(self, snapshot: Snapshot, change: ItemChange, changes: Changes) -> None:
        before = self.entry(change.old, change.base_key)
        after = self.entry(change.new, change.base_key)
        if before == after:
            return
        if before is not None:
            changes.mutations.append((before, None))
        if after is not None:
            changes.mutations.append((after, b""))


def expiry_queue(table: Table) -> ExpiryQueue | None:
    attribute = table.definition.ttl_attribute
    return None if attribute is None else ExpiryQueue(table, attribute)
