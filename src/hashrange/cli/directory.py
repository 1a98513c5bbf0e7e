"""A table reached through the data directory: for reading beside a running server, or for writing without one."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hashrange import app
from hashrange.cli.item_lines import BadLine, Line
from hashrange.cli.options import ConfigurationError
from hashrange.engine.clock_offset import database_clock
from hashrange.engine.database import Database
from hashrange.engine.scope import Scope, scope_of
from hashrange.engine.table import Changes, Table
from hashrange.errors import ClientError, Wording
from hashrange.jobs import propagate_indexes
from hashrange.operations.items.actions import decide
from hashrange.operations.operation import Request, Write
from hashrange.operations.tables import create_table
from hashrange.operations.tables.description import describe
from hashrange.storage import CannotOpen, LmdbStore, Plan, Result, Snapshot, files, write_and_wait
from hashrange.validation.shape import load
from hashrange.values.item import Item
from hashrange.values.ordered import after

PLANS_UNDER_WAY = 4  # enough to keep the writer busy while the next lines are parsed


def open_database(arguments: argparse.Namespace, *, read_only: bool = True) -> Database:
    """The database of `--data`, with its own time. Close its store."""
    store = LmdbStore.open(arguments.data, read_only=read_only)
    with store.read() as snapshot:
        clock = database_clock(snapshot)
    return app.build_database(store, app.Settings(), clock)


@contextmanager
def reading(arguments: argparse.Namespace) -> Iterator[tuple[Snapshot, Table, int]]:
    """One snapshot of the table that the arguments name, and the time it was taken at."""
    db = open_database(arguments)
    try:
        with db.read() as snapshot:
            yield snapshot, existing_table(db, snapshot, arguments), db.clock.micros()
    finally:
        db.store.close()


def existing_table(db: Database, snapshot: Snapshot, arguments: argparse.Namespace) -> Table:
    scope = scope_of(arguments.account, arguments.region)
    table = db.catalog.find(snapshot, scope, arguments.table)
    if table is not None:
        return table
    names = list(db.catalog.names(snapshot, scope))
    there = f"its tables are {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}" if names else "it has none"
    raise ConfigurationError(
        f"There is no table {arguments.table} in region {arguments.region} of account {arguments.account}: {there}."
    )


def in_words(error: ClientError) -> str:
    """What an error says, for people."""
    return error.text(Wording.OLDER, envelope=False) or error.code


class DirectoryTable:
    """A table of a database that nobody else has open, for bulk reading and writing."""

    lines_per_batch = 500

    def __init__(self, arguments: argparse.Namespace, *, writes: bool) -> None:
        if writes:
            require_unused(Path(arguments.data), may_be_new=arguments.create)
        self._arguments = arguments
        self._db = open_database(arguments, read_only=not writes)
        if writes:
            self._catch_up()
        self._scope: Scope = scope_of(arguments.account, arguments.region)
        self._room = threading.Semaphore(PLANS_UNDER_WAY)
        self._error: BaseException | None = None
        self.lines_written = 0

    def close(self) -> None:
        """Finish what was begun, and let go of the database."""
        self._db.store.close()

    def _catch_up(self) -> None:
        """Carry out index writes that a server with a delay left behind, before there are newer ones."""
        while (step := propagate_indexes.catch_up(self._db)) is not None:
            write_and_wait(self._db.store, step)

    def exists(self) -> bool:
        with self._db.read() as snapshot:
            return self._db.catalog.find(snapshot, self._scope, self._arguments.table) is not None

    def create(self, members: dict[str, Any]) -> None:
        """Create the table as the members of a CreateTable request say."""
        shape = load("dynamodb")["CreateTable"]
        try:
            request = Request(shape.explain({**members, "TableName": self._arguments.table}), self._scope)
            answer = create_table.OPERATION.run(self._db, request)
            assert isinstance(answer, Write)
            write_and_wait(self._db.store, answer.plan)
        except ClientError as error:
            raise ConfigurationError(f"The table cannot be created: {in_words(error)}") from None

    def contents(self) -> Iterator[Any]:
        """The description of the table, and then the JSON of each of its items, all from one snapshot."""
        with self._db.read() as snapshot:
            table = existing_table(self._db, snapshot, self._arguments)
            yield describe(snapshot, table.definition)
            for _, stored in snapshot.scan(table.item_prefix, after(table.item_prefix)):
                yield Item.load(stored).json

    def put(self, lines: Sequence[Line]) -> None:
        """Begin to write items; those before a line that cannot be written are still written."""
        with self._db.read() as snapshot:
            table = existing_table(self._db, snapshot, self._arguments)
        located: dict[bytes, Line] = {}
        for count, line in enumerate(lines):
            try:
                located[line.put.locate(table)] = line  # of several with one key the last one counts
            except ClientError as error:
                self._submit(located, count)
                raise BadLine(line.number, in_words(error)) from None
        self._submit(located, len(lines))

    def finish(self) -> None:
        """Wait for what was begun."""
        for _ in range(PLANS_UNDER_WAY):
            self._room.acquire()
        self._room.release(PLANS_UNDER_WAY)
        if self._error is not None:
            raise self._error

    def _submit(self, located: dict[bytes, Line], lines: int) -> None:
        def plan(snapshot: Snapshot) -> Plan:
            table = self._db.table(snapshot, self._scope, self._arguments.table)
            changes = Changes()
            now = self._db.clock.micros()
            for base_key, line in located.items():
                try:
                    decide(table, base_key, snapshot, line.put, now, changes)
                except ClientError as error:
                    raise BadLine(line.number, in_words(error)) from None
            return changes.answering(None)

        def done(result: Result) -> None:
            if result.error is None:
                self.lines_written += lines
            else:
                self._error = self._error or result.error
            self._room.release()

        self._room.acquire()
        if self._error is not None:
            self._room.release()
            raise self._error
        self._db.store.write(plan, done)


def require_unused(directory: Path, *, may_be_new: bool) -> None:
    """Refuse to write beside a server, which may have promised its clients another order or delay of writes."""
    if not files.look(directory):
        if may_be_new:
            return
        raise CannotOpen(f"There is no Hashrange database in {directory}.")
    try:
        with files.exclusive_use(directory):
            pass
    except CannotOpen as error:
        raise ConfigurationError(f"{error} Or go through the server, with --endpoint URL.") from None
