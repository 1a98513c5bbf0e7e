"""The filling of a backup or of a restored table, as far as it has come: a record of the store.

What is filled from a table takes the table as it was at a position of its change log. The log is needed from there
on until the end, so for that long the filling is one of its readers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson

from hashrange.engine import keyspace, lifecycle, log_readers
from hashrange.engine.change_log import last_sequence
from hashrange.engine.definition import TableDefinition, TableRecord
from hashrange.engine.lifecycle import Mutation
from hashrange.engine.log_readers import LogReader
from hashrange.storage.interface import Snapshot
from hashrange.values.ordered import after


@dataclass(frozen=True, slots=True)
class Filling:
    """Everything before `position` is done; `log_positions` are those of the changes to look at next, by slice."""

    id: int  # of the backup or table that is filled
    record_key: bytes  # where its record is
    is_backup: bool
    source_id: int
    table: TableDefinition | None = None  # what it is filled from; None if that is a backup
    log_positions: tuple[int, ...] = ()  # none if what it is filled from does not change any more
    position: bytes | None = b""  # a base key; None when all is done but the clearing up
    items: int = 0
    size_bytes: int = 0

    @classmethod
    def of_past(
        cls, filled_id: int, record_key: bytes, source: TableRecord, sequence: int, *, is_backup: bool
    ) -> tuple[Filling, list[Mutation]]:
        """A filling from a table as it was just before a log position, and the mutations that make it a reader."""
        table = source.now
        filling = cls(filled_id, record_key, is_backup, table.id, table, (sequence,) * table.log_slices)
        record, reader = log_readers.join(source, filling.reader_name, LogReader(position=sequence))
        return filling, [lifecycle.save(record), reader]

    @classmethod
    def of_present(
        cls, snapshot: Snapshot, filled_id: int, record_key: bytes, source: TableRecord, *, is_backup: bool
    ) -> tuple[Filling, list[Mutation]]:
        """The same from a table as it is now."""
        return cls.of_past(filled_id, record_key, source, last_sequence(snapshot) + 1, is_backup=is_backup)

    @property
    def reader_name(self) -> str:
        return f"filling-{self.id}"

    @property
    def is_done(self) -> bool:
        return self.position is None

    def saved(self) -> Mutation:
        return keyspace.filling_key(self.id), self.dump()

    def dump(self) -> bytes:
        position = None if self.position is None else self.position.hex()
        return orjson.dumps({**asdict(self), "record_key": self.record_key.hex(), "position": position})

    @classmethod
    def load(cls, stored: bytes) -> Filling:
        fields: dict[str, Any] = orjson.loads(stored)
        position, table = fields["position"], fields["table"]
        return cls(
            **{
                **fields,
                "record_key": bytes.fromhex(fields["record_key"]),
                "table": None if table is None else TableDefinition.load(table),
                "log_positions": tuple(fields["log_positions"]),
                "position": None if position is None else bytes.fromhex(position),
            }
        )

    def done(self, snapshot: Snapshot) -> list[Mutation]:
        """What to write when nothing more is needed from the source."""
        mutations = [replace(self, position=None).saved()]
        if self.table is None or not self.log_positions:
            return mutations
        mutations.append((keyspace.log_reader_key(self.table.id, self.reader_name), None))
        stored = snapshot.get(lifecycle.catalog_key(self.table))
        source = None if stored is None else TableRecord.load(stored)
        if source is not None and source.now.id == self.table.id:
            mutations.append(lifecycle.save(log_readers.leave(source, self.reader_name)[0]))
        return mutations


def fillings(snapshot: Snapshot) -> Iterator[Filling]:
    """Every filling that is under way or has something to clear up."""
    for _, stored in snapshot.scan(keyspace.FILLING, after(keyspace.FILLING)):
        yield Filling.load(stored)


def sources(snapshot: Snapshot) -> set[int]:
    """The ids of all tables and backups from which something is being filled."""
    return {filling.source_id for filling in fillings(snapshot) if not filling.is_done}
