"""The formats that items are read from: DynamoDB JSON, Ion and CSV.

A format does two things. It splits an object into records, which is enough to find a place in it again; and it makes an
item of a record. A record that is no item is one error; an object that cannot be split any further ends there.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from hashrange.limits import ITEM_SIZE_BYTES_MAX
from hashrange.transfer import ion_reader
from hashrange.transfer.decompression import MalformedObject
from hashrange.transfer.lines import LINE_BYTES_MAX, lines
from hashrange.values.types import Attributes

DYNAMODB_JSON, ION = "DYNAMODB_JSON", "ION"
CONDITION_MEMBERS = ("ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

csv.field_size_limit(ITEM_SIZE_BYTES_MAX)  # a cell that is longer fits into no item


class BadRecord(Exception):
    """A record that no item can be made of. The text says why."""


@dataclass(frozen=True, slots=True)
class Put:
    """An item to be put, not yet checked, and the members of its condition if it has one."""

    item: Attributes
    condition: Mapping[str, Any] = field(default_factory=dict)


class InputFormat(Protocol):
    """How items are written down in a file."""

    def records(self, pieces: Iterable[bytes]) -> Iterator[Any]:
        """Every record of a file that comes in pieces; `MalformedObject` where there is no way to go on."""
        ...

    def put_of(self, record: Any) -> Put:
        """The item of a record, or `BadRecord`."""
        ...


class DynamoDbJson:
    """One `{"Item": {...}}` to a line."""

    def records(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        return lines(without_mark(pieces))

    def put_of(self, record: bytes) -> Put:
        try:
            content = orjson.loads(record)
        except orjson.JSONDecodeError as error:
            raise BadRecord(f"The line is not valid JSON: {error}") from None
        if not isinstance(content, dict) or not isinstance(content.get("Item"), dict):
            raise BadRecord('The line is not of the form {"Item": {...}}')
        if len(content) == 1:
            return Put(content["Item"])
        return Put(content["Item"], {name: content[name] for name in CONDITION_MEMBERS if name in content})


class Ion:
    """Structs with a member `Item`."""

    def records(self, pieces: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        return ion_reader.values(pieces)

    def put_of(self, record: dict[str, Any]) -> Put:
        members = record.get("M", {})
        item = members.get("Item", {}).get("M")
        if item is None:
            raise BadRecord("The value is not of the form {Item: {...}}")
        condition: dict[str, Any] = {}
        if "ConditionExpression" in members:
            condition["ConditionExpression"] = members["ConditionExpression"].get("S")
        if "ExpressionAttributeNames" in members:
            names = members["ExpressionAttributeNames"].get("M", {})
            condition["ExpressionAttributeNames"] = {name: value.get("S") for name, value in names.items()}
        if "ExpressionAttributeValues" in members:
            condition["ExpressionAttributeValues"] = members["ExpressionAttributeValues"].get("M")
        return Put(item, condition)


class Csv:
    """Rows of cells under a header. Key attributes take the types that the table declares; all others are strings."""

    def __init__(self, delimiter: str, header: Sequence[str] | None, types: Mapping[str, str]) -> None:
        self._delimiter = delimiter
        self._given_header = header
        self._types = types
        self._header: list[str] = list(header or ())

    def records(self, pieces: Iterable[bytes]) -> Iterator[list[str]]:
        rows = self._rows(pieces)
        if self._given_header is None:
            self._header = checked_header(next(rows, []))
        yield from rows

    def _rows(self, pieces: Iterable[bytes]) -> Iterator[list[str]]:
        """Every row that is not empty. A cell may have several lines, but a row must end."""
        row_bytes = 0

        def text() -> Iterator[str]:
            nonlocal row_bytes
            for line in lines(without_mark(pieces), with_blank=True):
                row_bytes += len(line)
                if row_bytes > LINE_BYTES_MAX:
                    raise MalformedObject(f"The object has a row of more than {LINE_BYTES_MAX} bytes")
                # Bytes that are not UTF-8 come through as surrogates, so that only the row that has them is refused.
                yield line.decode(errors="surrogateescape") + "\n"

        try:
            for row in csv.reader(text(), delimiter=self._delimiter, strict=True):
                row_bytes = 0
                if row:
                    yield row
        except csv.Error as error:
            raise MalformedObject(f"The object is not valid CSV: {error}") from None

    def put_of(self, record: list[str]) -> Put:
        if len(record) > len(self._header):
            raise BadRecord(f"The row has {len(record)} cells, the header {len(self._header)}")
        if not is_utf8(record):
            raise BadRecord("The row is not UTF-8")
        return Put({name: {self._types.get(name, "S"): cell} for name, cell in zip(self._header, record, strict=False)})


def checked_header(header: list[str]) -> list[str]:
    if len(set(header)) < len(header) or "" in header:
        raise MalformedObject("The header of the CSV file has a name twice, or an empty one")
    if not is_utf8(header):
        raise MalformedObject("The header of the CSV file is not UTF-8")
    return header


def is_utf8(row: list[str]) -> bool:
    """Whether a row has no surrogates, which stand for bytes that are not UTF-8."""
    try:
        "".join(row).encode()
    except UnicodeEncodeError:
        return False
    return True


def without_mark(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces of a file without the mark that some editors put at its beginning."""
    is_first = True
    for piece in pieces:
        yield piece.removeprefix(BYTE_ORDER_MARK) if is_first else piece
        is_first = False


def input_format(name: str, options: Mapping[str, Any], types: Mapping[str, str]) -> InputFormat:
    """The format of a request: its name, its InputFormatOptions, and the types of the table's key attributes."""
    if name == DYNAMODB_JSON:
        return DynamoDbJson()
    if name == ION:
        return Ion()
    given = options.get("Csv") or {}
    return Csv(given.get("Delimiter", ","), given.get("HeaderList"), types)
