"""What a Query or Scan reads: a table or one of its indexes, as ranges of stored keys.

Tables and indexes differ in one thing only. In a table the sort key ends the stored key; in an index it is followed
by the key of the item, so that several items can share it. Hence the two ways to say "every entry with this sort key".
"""

from __future__ import annotations

from hashrange.engine.index import Index
from hashrange.engine.table import Table
from hashrange.values.ordered import after, key_bytes, part, partition_hash
from hashrange.values.types import Attributes, AttributeValue

END_OF_PART_BYTES = 2
HASH_SPACE = 2**128

Range = tuple[bytes, bytes]
"""Stored keys from the first, included, to the second, excluded."""


class Source:
    """A table or an index, ready to be read in key order."""

    __slots__ = (
        "index",
        "key_names",
        "partition",
        "partition_names",
        "position_names",
        "prefix",
        "sort",
        "sort_names",
        "table",
    )

    def __init__(self, table: Table, index: Index | None) -> None:
        self.table = table
        self.index = index
        key = table.key
        if index is None:
            self.prefix = table.item_prefix
            self.partition: tuple[tuple[str, str], ...] = ((key.partition_name, key.partition_type),)
            self.sort: tuple[tuple[str, str], ...] = ()
            if key.sort_name is not None:
                self.sort = ((key.sort_name, key.sort_type),)
            self.key_names = key.names
        else:
            self.prefix = index.prefix
            self.partition = index.partition
            self.sort = index.sort
            self.key_names = index.key_names
        self.partition_names = tuple(name for name, _ in self.partition)
        self.sort_names = tuple(name for name, _ in self.sort)
        self.position_names = tuple(dict.fromkeys((*self.key_names, *key.names)))

    @classmethod
    def of(cls, table: Table, index: Index | None) -> Source:
        """The source of a table or index, which is made once and then shared."""
        name = None if index is None else index.name
        source = table.sources.get(name)
        if source is None:
            source = table.sources[name] = cls(table, index)
        return source

    def whole(self) -> Range:
        return self.prefix, after(self.prefix)

    def segment(self, number: int, total: int) -> Range:
        """One of `total` equal slices of the hash space. They are disjoint and together they are everything."""
        start = self.prefix + _hash_bound(number, total) if number else self.prefix
        end = self.prefix + _hash_bound(number + 1, total) if number + 1 < total else after(self.prefix)
        return start, end

    def partition_prefix(self, partition: tuple[AttributeValue, ...], equal: tuple[AttributeValue, ...]) -> bytes:
        """What the stored keys of a partition start with, narrowed by leading sort key attributes that are given."""
        values = [(kind, value[kind]) for (_, kind), value in zip(self.partition, partition, strict=True)]
        prefix = self.prefix + partition_hash(values)
        for value, (_, kind) in zip(equal, self.sort, strict=False):
            prefix += self._sort_bytes(kind, value[kind])
        return prefix

    def _sort_bytes(self, kind: str, content: str) -> bytes:
        return key_bytes(kind, content) if self.index is None else part(kind, content)

    def equal(self, prefix: bytes) -> Range:
        """Every entry whose key up to and including its last given attribute is `prefix`."""
        return prefix, prefix + b"\0" if self.index is None else after(prefix)

    def sort_range(self, prefix: bytes, kind: str, operator: str, operands: tuple[AttributeValue, ...]) -> Range:
        """The part of a partition that a condition on the next sort key attribute leaves."""
        spans = [self.equal(prefix + self._sort_bytes(kind, operand[kind])) for operand in operands]
        first, last = spans[0], spans[-1]
        match operator:
            case "=":
                return first
            case "<":
                return prefix, first[0]
            case "<=":
                return prefix, first[1]
            case ">":
                return first[1], after(prefix)
            case ">=":
                return first[0], after(prefix)
            case "BETWEEN":
                return first[0], last[1]
        assert operator == "begins_with", operator
        beginning = first[0] if self.index is None else first[0][:-END_OF_PART_BYTES]
        return beginning, after(beginning)

    def position(self, key: Attributes) -> bytes:
        """The stored key of the entry that an exclusive start key names; the entry need not exist."""
        base_key = self.table.key.pack(key)
        if self.index is None:
            return self.prefix + base_key
        partition = [(kind, key[name][kind]) for name, kind in self.partition]
        sort = [(kind, key[name][kind]) for name, kind in self.sort]
        return self.index.pack(partition, sort) + base_key

    def has_position_shape(self, key: Attributes) -> bool:
        """Whether a key has exactly the attributes that name a position here, with their types."""
        types = self.table.definition.attribute_types
        if set(key) != set(self.position_names):
            return False
        return all(types[name] in value for name, value in key.items())

    def position_of(self, item: Attributes) -> Attributes:
        """The last evaluated key that stands for an item."""
        return {name: item[name] for name in self.position_names}


def _hash_bound(number: int, total: int) -> bytes:
    return (HASH_SPACE * number // total).to_bytes(16, "big")
