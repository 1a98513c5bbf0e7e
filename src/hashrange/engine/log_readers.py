"""Who reads the change log of a table, besides its stream, and how much of it they still need.

A reader is named in the table's definition, so that writers log every change with both images, and has a record of
its own, so that the log is trimmed no further than the neediest reader allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import orjson

from hashrange.engine import keyspace
from hashrange.engine.change_log import position_at
from hashrange.engine.definition import TableDefinition, TableRecord
from hashrange.engine.lifecycle import Mutation
from hashrange.storage.interface import Snapshot
from hashrange.values.ordered import after


@dataclass(frozen=True, slots=True)
class LogReader:
    """Needs what was logged from a position on, or during the last so many microseconds."""

    position: int | None = None
    retention_micros: int | None = None

    def dump(self) -> bytes:
        return orjson.dumps(asdict(self))

    @classmethod
    def load(cls, stored: bytes) -> LogReader:
        return cls(**orjson.loads(stored))

    def needs_from(self, now_micros: int) -> int:
        """The first position that must not be trimmed."""
        if self.position is not None:
            return self.position
        assert self.retention_micros is not None
        return position_at(max(0, now_micros - self.retention_micros))


def readers(snapshot: Snapshot) -> Iterator[tuple[int, LogReader]]:
    """Every reader with the id of the table whose log it reads."""
    for key, stored in snapshot.scan(keyspace.LOG_READER, after(keyspace.LOG_READER)):
        yield keyspace.table_id_of(key), LogReader.load(stored)


def join(record: TableRecord, name: str, reader: LogReader) -> tuple[TableRecord, Mutation]:
    """The table's record with one more reader of its log."""

    def with_reader(table: TableDefinition) -> TableDefinition:
        return replace(table, log_readers=(*_others(table, name), name))

    return record.everywhere(with_reader), (keyspace.log_reader_key(record.now.id, name), reader.dump())


def leave(record: TableRecord, name: str) -> tuple[TableRecord, Mutation]:
    """The table's record without a reader that needs its log no longer."""

    def without_reader(table: TableDefinition) -> TableDefinition:
        return replace(table, log_readers=_others(table, name))

    return record.everywhere(without_reader), (keyspace.log_reader_key(record.now.id, name), None)


def _others(table: TableDefinition, name: str) -> tuple[str, ...]:
    return tuple(each for each in table.log_readers if each != name)
