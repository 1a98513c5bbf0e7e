"""What policies call a resource: its ARN, in one spelling whatever a client wrote, and whose policy guards it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hashrange.auth.policy.document import Policy
from hashrange.engine import keyspace
from hashrange.engine.database import Database
from hashrange.engine.scope import Scope, resolve_table, scope_of
from hashrange.engine.table import Table
from hashrange.policies.record import read_policy
from hashrange.storage.interface import Snapshot
from hashrange.streams.stream import Stream

ARN_PARTS = 6
TABLE_PART = re.compile(r"table/([^/]+)(?:/index/([^/]+)|/stream/([^/]+))?")


@dataclass(frozen=True, slots=True)
class Place:
    """A resource. Tables, their indexes and their streams say which table they belong to."""

    arn: str
    account: str | None  # None: it belongs to nobody
    scope: Scope | None = None
    table_name: str = ""
    index_name: str | None = None
    stream_label: str | None = None

    def table(self, db: Database, snapshot: Snapshot) -> Table | None:
        """The table, if this is one or an index of one, and it exists."""
        if self.scope is None or self.stream_label is not None:
            return None
        return db.catalog.find(snapshot, self.scope, self.table_name)

    def policy(self, db: Database, snapshot: Snapshot) -> Policy | None:
        """The policy that guards the resource; that of a table guards its indexes too."""
        if self.stream_label is None:
            table = self.table(db, snapshot)
            return None if table is None else read_policy(snapshot, keyspace.policy_key(table.definition.id))
        assert self.scope is not None
        stored = snapshot.get(keyspace.stream_key(self.scope.prefix, self.table_name, self.stream_label))
        if stored is None:
            return None
        return read_policy(snapshot, keyspace.policy_key(Stream.load(stored).table_id, self.stream_label))


EVERYTHING = Place("*", None)


def table_place(scope: Scope, name_or_arn: str, index_name: str | None = None) -> Place:
    """A table that is given by its name or its ARN, or an index of it."""
    scope, name = resolve_table(scope, name_or_arn)
    arn = scope.table_arn(name)
    return Place(arn if index_name is None else f"{arn}/index/{index_name}", scope.account, scope, name, index_name)


def arn_place(arn: str) -> Place:
    """Any resource that is given by its ARN. What is no ARN of ours is left for the operation to refuse."""
    parts = arn.split(":", ARN_PARTS - 1)
    if len(parts) != ARN_PARTS:
        return Place(arn, None)
    _, _, service, region, account, resource = parts
    plain = f"arn:aws:{service}:{region}:{account}:{resource}"  # operations do not look at the partition of an ARN
    match = TABLE_PART.fullmatch(resource)
    if match is None:
        return Place(plain, account)
    name, index_name, stream_label = match.groups()
    return Place(plain, account, scope_of(account, region), name, index_name, stream_label)


def named_place(scope: Scope, name_or_arn: str) -> Place:
    """A table by its name, or any resource by its ARN."""
    return arn_place(name_or_arn) if name_or_arn.startswith("arn:") else table_place(scope, name_or_arn)
