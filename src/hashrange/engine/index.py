"""A secondary index at work: which items it holds, under which key, and what it shows of them."""

from __future__ import annotations

from collections.abc import Container

from hashrange.engine import keyspace
from hashrange.engine.definition import ALL, GLOBAL, INCLUDE, IndexDefinition, TableDefinition
from hashrange.engine.keys import INVALID, check_key_bytes, key_size
from hashrange.errors import EmptyKeyValue, ValidationException
from hashrange.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from hashrange.values.item import Item
from hashrange.values.ordered import part, partition_hash
from hashrange.values.size import size_of_attributes
from hashrange.values.types import Attributes

COMPUTED_TYPE = "The update expression attempted to update the secondary index key to unsupported type"


class Index:
    """One index as its definition says. An item is in it only if it has all of the index's key attributes."""

    __slots__ = (
        "definition",
        "is_global",
        "key_names",
        "name",
        "partition",
        "prefix",
        "projected",
        "sort",
    )

    def __init__(self, table: TableDefinition, definition: IndexDefinition) -> None:
        types = table.attribute_types
        self.definition = definition
        self.name = definition.name
        self.is_global = definition.kind == GLOBAL
        self.prefix = keyspace.index_prefix(table.id, definition.number)
        self.partition = tuple((name, types[name]) for name in definition.key.partition)
        self.sort = tuple((name, types[name]) for name in definition.key.sort)
        self.key_names = definition.key.names
        self.projected = _projected(table, definition)

    @property
    def is_readable(self) -> bool:
        return self.definition.status not in ("CREATING", "DELETING")

    def projects(self, name: str) -> bool:
        """Whether entries carry the attribute of that name."""
        return self.projected is None or name in self.projected

    def check_key(self, item: Attributes, *, by_update: bool = False, computed: Container[str] = ()) -> None:
        """Refuse an item with an attribute that the index needs as a key but cannot use as one.

        `computed` are the attributes that an update worked out from others.
        """
        partition_bytes = self._check_part(item, self.partition, by_update, computed)
        sort_bytes = self._check_part(item, self.sort, by_update, computed)
        check_key_bytes(partition_bytes, is_sort_key=False)
        check_key_bytes(sort_bytes, is_sort_key=True)

    def _check_part(
        self, item: Attributes, part: tuple[tuple[str, str], ...], by_update: bool, computed: Container[str]
    ) -> int:
        size_bytes = 0
        for name, kind in part:
            value = item.get(name)
            if value is None:
                continue
            if kind not in value:
                if name in computed:
                    raise ValidationException(COMPUTED_TYPE)
                raise ValidationException(
                    f"{INVALID}Type mismatch for Index Key {name} Expected: {kind} "
                    f"Actual: {next(iter(value))} IndexName: {self.name}"
                )
            if kind != "N":
                if not value[kind]:
                    raise self._empty_key(name, kind, by_update=by_update)
                size_bytes += key_size(kind, value[kind])
        return size_bytes

    def _empty_key(self, name: str, kind: str, *, by_update: bool) -> ValidationException:
        empty = EmptyKeyValue.rule(kind)
        if by_update:
            return EmptyKeyValue(
                f"{EmptyKeyValue.NOT_VALID}The update expression attempted to update a secondary index key "
                f"to a value that is not supported. {empty}"
            )
        return EmptyKeyValue(
            f"{EmptyKeyValue.NOT_VALID}A value specified for a secondary index key is not supported. {empty} "
            f"IndexName: {self.name}, IndexKey: {name}"
        )

    def entry_key(self, item: Attributes, base_key: bytes) -> bytes | None:
        """The stored key of an item's entry, or None if the item does not belong in the index.

        Items written before the index existed may have attributes that cannot be its keys; they are left out.
        """
        partition = _usable(item, self.partition, PARTITION_KEY_BYTES_MAX)
        sort = _usable(item, self.sort, SORT_KEY_BYTES_MAX)
        if partition is None or sort is None:
            return None
        return self.pack(partition, sort) + base_key

    def pack(self, partition: list[tuple[str, str]], sort: list[tuple[str, str]]) -> bytes:
        """The stored prefix of all entries with these (type, content) key values."""
        return self.prefix + partition_hash(partition) + b"".join(part(kind, content) for kind, content in sort)

    def view(self, item: Item) -> Item:
        """The item as the index shows it."""
        if self.projected is None:
            return item
        shown = {name: value for name, value in item.attributes.items() if name in self.projected}
        return Item.of(shown, size_of_attributes(shown), item.written_at_micros)


def _projected(table: TableDefinition, definition: IndexDefinition) -> frozenset[str] | None:
    """The attributes that the index's entries carry; None for all of them."""
    if definition.projection == ALL:
        return None
    extra = definition.non_key_attributes if definition.projection == INCLUDE else ()
    return frozenset((*table.key.names, *definition.key.names, *extra))


def _usable(item: Attributes, part: tuple[tuple[str, str], ...], size_bytes_max: int) -> list[tuple[str, str]] | None:
    values: list[tuple[str, str]] = []
    size_bytes = 0
    for name, kind in part:
        content = item[name].get(kind) if name in item else None
        if not content:
            return None
        if kind != "N":
            size_bytes += key_size(kind, content)
        values.append((kind, content))
    return values if size_bytes <= size_bytes_max else None
