"""A table at work: its keys, its items, and the one door through which they change."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from hashrange.engine import keyspace
from hashrange.engine.definition import TableDefinition
from hashrange.engine.index import Index
from hashrange.engine.keys import PrimaryKey
from hashrange.engine.units import Consumed, write_units
from hashrange.errors import ValidationException
from hashrange.storage.interface import Plan, Snapshot
from hashrange.values.item import Item, stored_size
from hashrange.values.types import Attributes

if TYPE_CHECKING:
    from hashrange.engine.source import Source

USER = "user"
SERVICE = "service"  # deletions by the time-to-live service


@dataclass(slots=True)
class ItemChange:
    """One item of one table becoming another; None stands for absence."""

    table: Table
    base_key: bytes  # partition hash and sort key
    old: Item | None
    new: Item | None
    origin: str = USER


class Changes:
    """Everything that has to be written together, and what it costs, gathered from one change after another."""

    __slots__ = ("_begun", "adds", "consumed", "last_sequence", "mutations")

    def __init__(self) -> None:
        self.mutations: list[tuple[bytes, bytes | None]] = []
        self.adds: list[tuple[bytes, int]] = []
        self.consumed = Consumed()
        self.last_sequence = 0  # the last sequence number that these changes used
        self._begun = (0, 0)  # how many mutations and adds there were before the current change

    def begin(self) -> None:
        """Gather the next change, which costs for itself and may be undone."""
        self.consumed = Consumed()
        self._begun = len(self.mutations), len(self.adds)

    def undo(self) -> None:
        """What failed halfway leaves no trace."""
        mutations, adds = self._begun
        del self.mutations[mutations:], self.adds[adds:]

    def answering(self, answer: Any) -> Plan:
        return Plan(self.mutations, self.adds, answer)


class Maintainer(Protocol):
    """Keeps something derived from items true, inside the writer's transaction."""

    def maintain(self, snapshot: Snapshot, change: ItemChange, changes: Changes) -> None:
        """Add to `changes` whatever must be written together with this change."""
        ...


MaintainerFactory = Callable[["Table"], Maintainer | None]


def same_content(old: Item | None, new: Item | None) -> bool:
    """Whether two items say the same. The order in which a client happens to write attributes does not count."""
    if old is None or new is None:
        return old is new
    if old.json == new.json:
        return True
    return len(old.json) == len(new.json) and old.attributes == new.attributes


class Table:
    """One table as its definition says, ready to serve. Built once for each definition and then shared."""

    __slots__ = (
        "allowance",
        "allowance_is_known",
        "arn",
        "definition",
        "indexes",
        "indexes_by_name",
        "is_watched",
        "item_prefix",
        "key",
        "maintainers",
        "name",
        "sources",
    )

    def __init__(self, definition: TableDefinition, factories: Iterable[MaintainerFactory] = ()) -> None:
        self.definition = definition
        self.name = definition.name
        self.arn = definition.arn
        self.key = PrimaryKey(definition.key, definition.attribute_types)
        self.item_prefix = keyspace.item_prefix(definition.id)
        self.is_watched = definition.is_watched
        self.indexes = tuple(Index(definition, index) for index in definition.indexes)
        self.indexes_by_name = sorted(self.indexes, key=lambda index: index.name)  # the order errors are reported in
        built = (factory(self) for factory in factories)
        self.maintainers = tuple(maintainer for maintainer in built if maintainer is not None)
        self.allowance: object = None  # what the ledger knows about the limits of this definition, once it has looked
        self.allowance_is_known = False
        self.sources: dict[str | None, Source] = {}  # for reads of the table (None) and of its indexes

    def index(self, name: str) -> Index | None:
        return next((index for index in self.indexes if index.name == name), None)

    def get(self, snapshot: Snapshot, base_key: bytes) -> Item | None:
        stored = snapshot.get(self.item_prefix + base_key)
        return None if stored is None else Item.load(stored)

    def size_of(self, snapshot: Snapshot, base_key: bytes) -> int | None:
        """The size of a stored item, without looking inside it."""
        stored = snapshot.get(self.item_prefix + base_key)
        return None if stored is None else stored_size(stored)

    def check_index_keys(self, item: Attributes, *, by_update: bool = False, computed: Container[str] = ()) -> None:
        """Refuse an item whose attributes cannot be keys of the indexes they belong to."""
        for index in self.indexes_by_name:
            index.check_key(item, by_update=by_update, computed=computed)

    def change(self, snapshot: Snapshot, change: ItemChange, changes: Changes) -> None:
        """The one door for writes: replace, create or delete an item, and keep everything derived from it true."""
        old, new = change.old, change.new
        old_size = old.size_bytes if old else 0
        new_size = new.size_bytes if new else 0
        changes.consumed.table += write_units(max(old_size, new_size))
        if same_content(old, new):
            return
        key = self.item_prefix + change.base_key
        changes.mutations.append((key, new.stored() if new else None))
        for maintainer in self.maintainers:
            maintainer.maintain(snapshot, change, changes)


def require_scalar_keys(table: Table, paths: Iterable[tuple[str | int, ...]]) -> None:
    """Refuse document paths that look inside a key attribute of the table or of an index."""
    for path in paths:
        if len(path) > 1:
            name = path[0]
            if name in table.key.names:
                raise _not_scalar(f"Key: {name}")
            if any(name in index.key_names for index in table.indexes):
                raise _not_scalar(f"IndexKey: {name}")


def _not_scalar(what: str) -> ValidationException:
    return ValidationException(
        f"Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: {what}"
    )
