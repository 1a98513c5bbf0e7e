"""An index-propagation delay, for people who want to see eventual consistency.

The service brings writes to global secondary indexes a little later than to the table. Here they arrive together,
unless a delay is set: then what a write does to the indexes is kept in a queue, in the order of the writes, and a
job carries it out when it is due.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct

import orjson

from hashrange.clock import Clock
from hashrange.engine import keyspace
from hashrange.engine.definition import TableRecord
from hashrange.engine.lifecycle import catalog_key
from hashrange.engine.table import Changes, ItemChange
from hashrange.storage.interface import Snapshot
from hashrange.values.ordered import after

_sequence = Struct(">Q")


@dataclass(frozen=True, slots=True)
class Propagation:
    """Postpones what is written to global secondary indexes."""

    delay_micros: int
    clock: Clock

    def postpone(self, snapshot: Snapshot, change: ItemChange, later: Changes, changes: Changes) -> None:
        """Queue what `later` holds. The writes of one plan share a place in the queue; their items differ."""
        if not later.mutations:
            return
        stored = snapshot.get(keyspace.LAST_POSTPONED)
        number = 1 + (0 if stored is None else _sequence.unpack(stored)[0])
        item_key = change.table.item_prefix + change.base_key
        changes.mutations.append((keyspace.LAST_POSTPONED, _sequence.pack(number)))
        changes.mutations.append(
            (keyspace.postponed_key(number, item_key), dump(change, later, self.clock.micros() + self.delay_micros))
        )


def dump(change: ItemChange, changes: Changes, due_at_micros: int) -> bytes:
    definition = change.table.definition
    return orjson.dumps(
        {
            "due_at_micros": due_at_micros,
            "table_id": definition.id,
            "catalog_key": catalog_key(definition).hex(),
            "mutations": [[key.hex(), None if value is None else value.hex()] for key, value in changes.mutations],
            "adds": [[key.hex(), amount] for key, amount in changes.adds],
        }
    )


def is_anything_postponed(snapshot: Snapshot) -> bool:
    return next(snapshot.scan(keyspace.POSTPONED, after(keyspace.POSTPONED), limit=1), None) is not None


def due_at_micros(stored: bytes) -> int:
    due: int = orjson.loads(stored)["due_at_micros"]
    return due


def load(snapshot: Snapshot, stored: bytes, now_micros: int) -> Changes:
    """What a queued write does to the indexes that are still there."""
    fields = orjson.loads(stored)
    numbers = _living_indexes(snapshot, bytes.fromhex(fields["catalog_key"]), fields["table_id"], now_micros)
    mutations = [
        (bytes.fromhex(key), None if value is None else bytes.fromhex(value)) for key, value in fields["mutations"]
    ]
    adds = [(bytes.fromhex(key), amount) for key, amount in fields["adds"]]
    changes = Changes()
    changes.mutations = [each for each in mutations if keyspace.index_number_of(each[0]) in numbers]
    changes.adds = [each for each in adds if keyspace.index_number_of(each[0]) in numbers]
    return changes


def _living_indexes(snapshot: Snapshot, record_key: bytes, table_id: int, now_micros: int) -> frozenset[int]:
    """The numbers of a table's indexes. A table or index that was deleted since must not be written to any more."""
    stored = snapshot.get(record_key)
    table = None if stored is None else TableRecord.load(stored).at(now_micros)
    if table is None or table.id != table_id:
        return frozenset()
    return frozenset(index.number for index in table.indexes if index.status != "DELETING")
