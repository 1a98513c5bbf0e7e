"""Notes the capacity of tables whenever it has changed, so that graphs show what it was at each time.

Once a second it looks at some tables, and goes on behind them the next time: however many there are, nobody waits long
for it. Where it is, only the process knows; a new one begins with the first table.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from heapq import merge
from itertools import groupby, islice
from weakref import WeakKeyDictionary

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.scope import Scope, scope_of
from hashrange.jobs.job import Job, Step
from hashrange.metrics import points, provisioned
from hashrange.metrics.points import DYNAMODB, minute_of
from hashrange.metrics.provisioned import CHANGED, Totals, Values
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.ordered import after

TABLES_PER_LOOK = 50
ACCOUNT = ""  # the group of what belongs to no table

Change = tuple[Scope, str, Values]
"""What is no longer as it was noted last."""

Rounds = Generator[list[Change], tuple[Database, Snapshot], None]

rounds_of: WeakKeyDictionary[Database, Rounds] = WeakKeyDictionary()


def next_step(db: Database) -> Step:
    rounds = rounds_of.get(db)
    if rounds is None:
        rounds = rounds_of[db] = going_round()
        next(rounds)
    try:
        with db.read() as snapshot:
            changes = rounds.send((db, snapshot))
    except BaseException:
        del rounds_of[db]  # it has ended
        raise
    return (lambda snapshot: noted(db, changes)) if changes else None


def noted(db: Database, changes: list[Change]) -> Plan:
    minute = minute_of(db.clock.seconds())
    return Plan([provisioned.note(scope, group, minute, values) for scope, group, values in changes])


def going_round() -> Rounds:
    """Look at all tables again and again, at some of them each time; what has changed of those."""
    changes: list[Change] = []
    db, snapshot = yield changes
    while True:
        looked_at = 0
        for scope in list(scopes(snapshot)):
            totals, last, is_last = Totals(), "", False
            while not is_last:
                if looked_at >= TABLES_PER_LOOK:
                    db, snapshot = yield changes
                    changes, looked_at = [], 0
                part = list(islice(groups_behind(snapshot, scope, last), TABLES_PER_LOOK))
                changes += look_at(db, snapshot, scope, part, totals)
                is_last = len(part) < TABLES_PER_LOOK
                looked_at += len(part) + 1
                last = part[-1] if part else last
            changes += change_of(snapshot, scope, ACCOUNT, totals.values)
        db, snapshot = yield changes
        changes = []


def look_at(db: Database, snapshot: Snapshot, scope: Scope, names: list[str], totals: Totals) -> Iterator[Change]:
    for name in names:
        table = db.catalog.find(snapshot, scope, name)
        if table is not None:
            totals.add(table.definition)
        yield from change_of(snapshot, scope, name, {} if table is None else provisioned.of_table(table.definition))


def change_of(snapshot: Snapshot, scope: Scope, group: str, values: Values) -> Iterator[Change]:
    if values != provisioned.latest_of(snapshot, scope, group):
        yield scope, group, values


def scopes(snapshot: Snapshot) -> Iterator[Scope]:
    """Every account and region that has tables, or once had some."""
    position = keyspace.CATALOG
    while (entry := next(snapshot.scan(position, after(keyspace.CATALOG), limit=1), None)) is not None:
        account, region, _ = entry[0][1:].split(b"\0", 2)
        scope = scope_of(account.decode(), region.decode())
        yield scope
        position = after(keyspace.CATALOG + scope.prefix)
    yield from (scope for scope in points.scopes(snapshot) if not has_tables(snapshot, scope))


def has_tables(snapshot: Snapshot, scope: Scope) -> bool:
    prefix = keyspace.catalog_key(scope.prefix, "")
    return any(snapshot.scan(prefix, after(prefix), limit=1))


def groups_behind(snapshot: Snapshot, scope: Scope, last: str) -> Iterator[str]:
    """The names behind one of tables that there are, or of which something was noted."""
    prefix = keyspace.catalog_key(scope.prefix, "")
    tables = (key[len(prefix) :].decode() for key, _ in snapshot.scan(prefix + last.encode() + b"\0", after(prefix)))
    known = points.groups_from(snapshot, scope, DYNAMODB, CHANGED, last)
    return (name for name, _ in groupby(merge(tables, known)) if name not in (last, ACCOUNT))


JOB = Job("note-metrics", next_step, idle_seconds=1.0)
