"""Primary keys: what a key must look like, and the bytes it is stored under.

The same rules hold wherever a key comes from; only the words differ. An item that is put names the attribute
that is wrong; a Key parameter is only told that it does not match the schema.
"""

from __future__ import annotations

from collections.abc import Mapping

from hashrange.engine.definition import KeySchema
from hashrange.errors import EmptyKeyValue, ValidationException
from hashrange.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from hashrange.values.binary import decode
from hashrange.values.ordered import attribute_hash, key_bytes
from hashrange.values.types import Attributes

INVALID = "One or more parameter values were invalid: "
SCHEMA_MISMATCH = "The provided key element does not match the schema"
SHORT_CHARACTERS = SORT_KEY_BYTES_MAX // 4  # surely short enough for any key: no character takes more than four bytes


class PrimaryKey:
    """The key schema of a table with its types, able to turn attributes into stored bytes."""

    __slots__ = ("count", "names", "partition_name", "partition_type", "schema", "sort_name", "sort_type", "types")

    def __init__(self, schema: KeySchema, attribute_types: Mapping[str, str]) -> None:
        self.schema = schema
        self.names = schema.names
        self.count = len(self.names)
        self.types = {name: attribute_types[name] for name in self.names}
        self.partition_name = schema.partition[0]
        self.partition_type = attribute_types[self.partition_name]
        self.sort_name = schema.sort[0] if schema.sort else None
        self.sort_type = attribute_types[self.sort_name] if self.sort_name else ""

    def of_item(self, item: Attributes) -> bytes:
        """The stored key of an item about to be put."""
        for name, kind in self.types.items():
            value = item.get(name)
            if value is None:
                raise ValidationException(f"{INVALID}Missing the key {name} in the item")
            if kind not in value:
                raise ValidationException(
                    f"{INVALID}Type mismatch for key {name} expected: {kind} actual: {next(iter(value))}"
                )
        return self.pack(item)

    def of_key(self, key: Attributes) -> bytes:
        """The stored key that a Key parameter names: exactly the key attributes, with their types."""
        if len(key) != self.count:
            raise ValidationException(SCHEMA_MISMATCH)
        for name, kind in self.types.items():
            if kind not in key.get(name, ()):
                raise ValidationException(SCHEMA_MISMATCH)
        return self.pack(key)

    def pack(self, attributes: Attributes) -> bytes:
        """Partition hash and sort key of attributes whose key types are right."""
        kind = self.partition_type
        content: str = attributes[self.partition_name][kind]
        if not 0 < len(content) <= SHORT_CHARACTERS:
            check_key_size(self.partition_name, kind, content, is_sort_key=False)
        packed = attribute_hash(kind, content)
        if self.sort_name is None:
            return packed
        kind = self.sort_type
        content = attributes[self.sort_name][kind]
        if not 0 < len(content) <= SHORT_CHARACTERS:
            check_key_size(self.sort_name, kind, content, is_sort_key=True)
        return packed + key_bytes(kind, content)

    def take(self, item: Attributes) -> Attributes:
        """Only the key attributes of an item."""
        return {name: item[name] for name in self.names}


def check_key_size(name: str, kind: str, content: str, *, is_sort_key: bool) -> None:
    """Refuse key values that are empty or too long. Numbers are neither."""
    if kind == "N":
        return
    if not content:
        raise EmptyKeyValue.of(name, kind)
    if len(content) <= SHORT_CHARACTERS:
        return
    check_key_bytes(key_size(kind, content), is_sort_key=is_sort_key)


def check_key_bytes(size_bytes: int, *, is_sort_key: bool) -> None:
    """Refuse a partition key or a sort key, of one attribute or several, that is too long."""
    if is_sort_key and size_bytes > SORT_KEY_BYTES_MAX:
        raise ValidationException(
            f"{INVALID}Aggregated size of all range keys has exceeded the size limit of {SORT_KEY_BYTES_MAX} bytes"
        )
    if size_bytes > PARTITION_KEY_BYTES_MAX:
        raise ValidationException(
            f"{INVALID}Size of hashkey has exceeded the maximum size limit of{PARTITION_KEY_BYTES_MAX} bytes"
        )


def key_size(kind: str, content: str) -> int:
    """The bytes of a string or binary key value."""
    return len(decode(content)) if kind == "B" else len(content.encode())
