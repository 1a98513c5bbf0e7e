"""Files of items: a line of JSON for each, `{"Item": {...}}`, after one about their table, `{"Table": {...}}`.

The lines with items are those of DynamoDB's own exports to and imports from S3. A name that ends in `.gz` stands for a
compressed file, and `-` for stdin or stdout.
"""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson

from hashrange.cli.options import ConfigurationError
from hashrange.errors import ClientError
from hashrange.operations.items.actions import Put, new_put
from hashrange.values.attribute import MalformedValue

STANDARD = "-"
LINE_BYTES_MAX = 16 * 1024 * 1024  # no item is longer, however it is written

# What a table is created from again. Tags, time to live and recovery are not part of CreateTable.
KEPT = ("AttributeDefinitions", "KeySchema", "OnDemandThroughput", "StreamSpecification", "DeletionProtectionEnabled")
KEPT_OF_INDEX = ("IndexName", "KeySchema", "Projection", "OnDemandThroughput")
UNITS = ("ReadCapacityUnits", "WriteCapacityUnits")


class BadLine(Exception):
    """A line that cannot be loaded, and why."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(f"line {number:,}: {why}")


@dataclass(frozen=True, slots=True)
class Line:
    """One item of a file, checked and normalised."""

    number: int
    put: Put


def item_line(item_json: bytes) -> bytes:
    return b'{"Item":%b}\n' % item_json


def table_line(description: dict[str, Any]) -> bytes:
    return orjson.dumps({"Table": creation_of(description)}) + b"\n"


def creation_of(description: dict[str, Any]) -> dict[str, Any]:
    """The members of the CreateTable request that makes a table like the one described, but for its name."""
    mode = description.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED")
    members: dict[str, Any] = {name: description[name] for name in KEPT if name in description}
    members["BillingMode"] = mode
    if mode == "PROVISIONED":
        members["ProvisionedThroughput"] = _units(description)
    if "TableClassSummary" in description:
        members["TableClass"] = description["TableClassSummary"]["TableClass"]
    for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        if kind in description:
            members[kind] = [_index(index, mode) for index in description[kind]]
    return members


def _index(description: dict[str, Any], mode: str) -> dict[str, Any]:
    members = {name: description[name] for name in KEPT_OF_INDEX if name in description}
    if mode == "PROVISIONED" and "ProvisionedThroughput" in description:
        members["ProvisionedThroughput"] = _units(description)
    return members


def _units(description: dict[str, Any]) -> dict[str, int]:
    return {name: description["ProvisionedThroughput"][name] for name in UNITS}


class LineReader:
    """The lines of a file, parsed. `table` is what its first line says about the table, if it does."""

    def __init__(self, stream: IO[bytes], table_name: str) -> None:
        self._stream = stream
        self._table_name = table_name
        self._number = 0
        self._first: dict[str, Any] | None = self._next()
        self.table: dict[str, Any] | None = None
        if self._first is not None and isinstance(self._first.get("Table"), dict):
            self.table = self._first["Table"]
            self._first = self._next()

    def __iter__(self) -> Iterator[Line]:
        members = self._first
        while members is not None:
            yield Line(self._number, self._put(members))
            members = self._next()

    def _next(self) -> dict[str, Any] | None:
        """The members of the next line that is not empty; None at the end."""
        while raw := self._read():
            if not raw.isspace():
                return self._parsed(raw)
        return None

    def _read(self) -> bytes:
        self._number += 1
        try:
            raw = self._stream.readline(LINE_BYTES_MAX + 1)
        except (EOFError, zlib.error, OSError) as error:
            raise BadLine(self._number, f"The file cannot be read further: {error}.") from None
        if len(raw) > LINE_BYTES_MAX:
            raise BadLine(self._number, f"The line is longer than {LINE_BYTES_MAX:,} bytes.")
        return raw

    def _parsed(self, raw: bytes) -> dict[str, Any]:
        try:
            members = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            whole = "" if raw.endswith(b"\n") else " The file ends here; perhaps a part of it is missing."
            raise BadLine(self._number, f"This is not JSON: {error}.{whole}") from None
        if not isinstance(members, dict):
            raise BadLine(self._number, 'This is not {"Item": {...}}.')
        return members

    def _put(self, members: dict[str, Any]) -> Put:
        item = members.get("Item")
        if len(members) != 1 or not isinstance(item, dict):
            raise BadLine(self._number, 'This is not {"Item": {...}}.')
        try:
            return new_put(self._table_name, item)
        except MalformedValue:
            raise BadLine(
                self._number, 'A value is not in DynamoDB JSON, such as {"S": "text"} or {"N": "1"}.'
            ) from None
        except ClientError as error:
            raise BadLine(self._number, str(error.message)) from None


@contextmanager
def open_input(name: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """A file to read lines from, and the same before it was decompressed, which knows how far it has been read."""
    if name == STANDARD:
        yield sys.stdin.buffer, sys.stdin.buffer
        return
    with _opened(Path(name), "rb") as raw:
        if name.endswith(".gz"):
            with gzip.open(raw, "rb") as stream:
                yield stream, raw  # type: ignore[misc]
        else:
            yield raw, raw


@contextmanager
def open_output(name: str) -> Iterator[IO[bytes]]:
    """A file to write to. It gets its name when it is complete, so that half a dump never looks like a whole one."""
    if name == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(name)
    is_special = target.exists() and not target.is_file()  # a pipe or a device cannot be replaced
    written = target if is_special else target.with_name(target.name + ".partial")
    try:
        with _opened(written, "wb") as raw:
            if name.endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=5, mtime=0) as stream:
                    yield stream  # type: ignore[misc]
            else:
                yield raw
        if not is_special:
            os.replace(written, target)
    except BaseException:
        if not is_special:
            written.unlink(missing_ok=True)
        raise


def _opened(path: Path, mode: str) -> IO[bytes]:
    try:
        return path.open(mode)
    except OSError as error:
        verb = "read" if mode == "rb" else "write"
        raise ConfigurationError(f"Cannot {verb} {path}: {error.strerror}.") from None
