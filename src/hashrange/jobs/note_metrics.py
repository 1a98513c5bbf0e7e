"""Notes the capacity of tables whenever it has changed, so that graphs show what it was at each time."""

from __future__ import annotations

from collections.abc import Iterator

from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.definition import TableDefinition
from hashrange.engine.scope import Scope, scope_of
from hashrange.jobs.job import Job, Step
from hashrange.metrics import points, provisioned
from hashrange.metrics.points import minute_of
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.ordered import after

NOTES_PER_STEP = 500


def next_step(db: Database) -> Step:
    with db.read() as snapshot:
        if next(notes(db, snapshot), None) is None:
            return None
    return lambda snapshot: note(db, snapshot)


def note(db: Database, snapshot: Snapshot) -> Plan:
    minute = minute_of(db.clock.seconds())
    plan = Plan()
    for scope, group, values in notes(db, snapshot):
        plan.mutations.append(provisioned.note(scope, group, minute, values))
        if len(plan.mutations) >= NOTES_PER_STEP:
            break
    return plan


def notes(db: Database, snapshot: Snapshot) -> Iterator[tuple[Scope, str, provisioned.Values]]:
    """What is no longer as it was noted last."""
    for scope in scopes(snapshot):
        tables = definitions(db, snapshot, scope)
        now = {table.name: provisioned.of_table(table) for table in tables}
        now[""] = provisioned.of_account(tables)
        noted = provisioned.latest(snapshot, scope)
        for group in sorted(now.keys() | noted.keys()):
            values = now.get(group, {})
            if values != noted.get(group, {}):
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


def definitions(db: Database, snapshot: Snapshot, scope: Scope) -> list[TableDefinition]:
    found = (db.catalog.find(snapshot, scope, name) for name in list(db.catalog.names(snapshot, scope)))
    return [table.definition for table in found if table is not None]


JOB = Job("note-metrics", next_step, idle_seconds=15.0)
