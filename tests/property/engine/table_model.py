"""A table as a dict of items: what the writes leave, what each index shows, and what everything costs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from property.engine.expressions_model import Refused, Tree, holds, updated
from property.engine.values_model import Attributes, comparable, item_size, normal_attributes, size, write_units

PARTITION_NAME = "pk"
SORT_NAME = "sk"
KEY_NAMES = (PARTITION_NAME, SORT_NAME)

Key = tuple[Hashable, ...]


class ConditionFailed(Exception):
    """What the database answers with a ConditionalCheckFailedException."""


@dataclass(frozen=True)
class Index:
    """A secondary index. `shown` None projects every attribute."""

    name: str
    partition: tuple[str, ...]
    sort: tuple[str, ...] = ()
    shown: tuple[str, ...] | None = None
    is_local: bool = False

    @property
    def key_names(self) -> tuple[str, ...]:
        return self.partition + self.sort

    def view(self, item: Attributes | None, types: dict[str, str]) -> Attributes | None:
        """The item as the index shows it; None if it is not there."""
        if item is None or any(types[name] not in item.get(name, {}) for name in self.key_names):
            return None
        if any(not item[name][types[name]] for name in self.key_names) or self.is_oversized(item):
            return None
        if self.shown is None:
            return item
        names = {*KEY_NAMES, *self.key_names, *self.shown}
        return {name: value for name, value in item.items() if name in names}

    def is_oversized(self, item: Attributes) -> bool:
        """Whether the key attributes that an item has are together too long. Numbers do not count."""
        return any(
            sum(size(item[name]) for name in names if name in item and "N" not in item[name]) > size_bytes_max
            for names, size_bytes_max in ((self.partition, 2048), (self.sort, 1024))
        )

    def wire(self) -> dict[str, Any]:
        schema = [{"AttributeName": name, "KeyType": "HASH"} for name in self.partition]
        schema += [{"AttributeName": name, "KeyType": "RANGE"} for name in self.sort]
        projection: dict[str, Any] = {"ProjectionType": "ALL"}
        if self.shown is not None:
            projection = {"ProjectionType": "INCLUDE" if self.shown else "KEYS_ONLY"}
            if self.shown:
                projection["NonKeyAttributes"] = list(self.shown)
        return {"IndexName": self.name, "KeySchema": schema, "Projection": projection}


@dataclass
class Units:
    """What a write costs, in the table and in each index."""

    table: float = 0
    indexes: dict[str, float] = field(default_factory=dict)

    def add(self, other: Units, factor: int = 1) -> None:
        self.table += other.table * factor
        for name, units in other.indexes.items():
            self.indexes[name] = self.indexes.get(name, 0) + units


@dataclass
class TableModel:
    """The items of one table by their keys, with naive semantics for every kind of write."""

    types: dict[str, str]
    indexes: tuple[Index, ...]
    items: dict[Key, Attributes] = field(default_factory=dict)

    def key_of(self, attributes: Attributes) -> Key:
        normalised = normal_attributes({name: attributes[name] for name in KEY_NAMES})
        return tuple(comparable(value) for value in normalised.values())

    def get(self, key: Attributes) -> Attributes | None:
        return self.items.get(self.key_of(key))

    def check_index_keys(self, item: Attributes) -> None:
        for index in self.indexes:
            for name in index.key_names:
                if name in item and not item[name].get(self.types[name]):
                    raise Refused("not a key of the index")
            if index.is_oversized(item):
                raise Refused("too long for the index")

    def outcome(self, command: Tree) -> Attributes | None:
        """What the item of a single write becomes.

        put, item, condition | update, key, actions, condition | delete, key, condition | check, key, condition
        """
        kind, key, condition = command[0], command[1], command[-1]
        old = self.get(key)
        if kind == "put":
            self.check_index_keys(key)
        if condition is not None and not holds(condition, old or {}):
            raise ConditionFailed
        if kind == "put":
            return normal_attributes(key)
        if kind == "delete":
            return None
        if kind == "check":
            return old
        new = updated(command[2] or [], old, normal_attributes(key))
        if new is not None and command[2]:
            self.check_index_keys(new)
        return new

    def write(self, key: Attributes, new: Attributes | None) -> Units:
        """Make an item another, and count the units."""
        old = self.get(key)
        units = Units(write_units(item_size(old or {}), item_size(new or {})))
        for index in self.indexes:
            cost = self._index_units(index, old, new)
            if cost:
                units.indexes[index.name] = cost
        if new is None:
            self.items.pop(self.key_of(key), None)
        else:
            self.items[self.key_of(key)] = new
        return units

    def _index_units(self, index: Index, old: Attributes | None, new: Attributes | None) -> int:
        before, after = index.view(old, self.types), index.view(new, self.types)
        if before == after:
            return 0
        if before is not None and after is not None and all(before[name] == after[name] for name in index.key_names):
            return write_units(item_size(before), item_size(after))
        return sum(write_units(item_size(view)) for view in (before, after) if view is not None)

    def entries(self, index: Index | None) -> list[Attributes]:
        """Everything in the table or in an index, as it is shown there, in no order."""
        if index is None:
            return list(self.items.values())
        views = (index.view(item, self.types) for item in self.items.values())
        return [view for view in views if view is not None]


def partitions(
    entries: Iterable[Attributes], partition: tuple[str, ...], sort: tuple[str, ...]
) -> dict[Key, list[Attributes]]:
    """Entries by partition key, each partition in the order of its sort key."""
    found: dict[Key, list[Attributes]] = {}
    for entry in entries:
        found.setdefault(tuple(comparable(entry[name]) for name in partition), []).append(entry)
    for members in found.values():
        members.sort(key=lambda entry: [comparable(entry[name]) for name in sort])
    return found
