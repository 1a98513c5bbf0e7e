"""An item as it is kept: the JSON that goes on the wire, and the few facts needed without parsing it.

    stored item = format version (1 byte) · size_bytes (4) · written_at_micros (8) · DynamoDB JSON

Reading an item that is only passed on never parses its JSON, and its size in capacity units comes from the header.
"""

from __future__ import annotations

from struct import Struct

import orjson

from hashrange.values.types import Attributes

FORMAT_VERSION = 1

_HEADER = Struct("<BIQ")
HEADER_BYTES = _HEADER.size
_pack = _HEADER.pack
_unpack_from = _HEADER.unpack_from
SIZE_AT = 1  # where in the header the size is
size_from = Struct("<I").unpack_from  # for loops over many items, where a call counts
_version_and_size = Struct("<BI").unpack_from


class Item:
    """An item, never changed once made: attributes handed out are shared and must be copied before a change."""

    __slots__ = ("_attributes", "json", "size_bytes", "written_at_micros")

    def __init__(
        self, json: bytes, size_bytes: int, written_at_micros: int, attributes: Attributes | None = None
    ) -> None:
        self.json = json
        self.size_bytes = size_bytes
        self.written_at_micros = written_at_micros
        self._attributes = attributes

    @classmethod
    def of(cls, attributes: Attributes, size_bytes: int, written_at_micros: int) -> Item:
        """An item of normalised attributes, whose size was counted when they were checked."""
        return cls(orjson.dumps(attributes), size_bytes, written_at_micros, attributes)

    @classmethod
    def load(cls, stored: bytes) -> Item:
        """The item that `stored` wrote."""
        version, size_bytes, written_at_micros = _unpack_from(stored)
        assert version == FORMAT_VERSION, f"item format {version} is unknown"
        return cls(stored[HEADER_BYTES:], size_bytes, written_at_micros)

    def stored(self) -> bytes:
        """The bytes to keep."""
        return _pack(FORMAT_VERSION, self.size_bytes, self.written_at_micros) + self.json

    @property
    def fragment(self) -> orjson.Fragment:
        """The item as a piece of JSON that goes into an answer as it is."""
        return orjson.Fragment(self.json)

    @property
    def attributes(self) -> Attributes:
        attributes = self._attributes
        if attributes is None:
            attributes = self._attributes = orjson.loads(self.json)
        return attributes


def stored_size(stored: bytes) -> int:
    """The `size_bytes` of a stored item, for pages and capacity units that need nothing else."""
    version: int
    size_bytes: int
    version, size_bytes = _version_and_size(stored)
    assert version == FORMAT_VERSION, f"item format {version} is unknown"
    return size_bytes


def stored_fragment(stored: bytes) -> orjson.Fragment:
    """A stored item as a piece of JSON that goes into an answer as it is."""
    return orjson.Fragment(stored[HEADER_BYTES:])
