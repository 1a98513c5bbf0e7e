"""Files to import: DynamoDB JSON, Ion and CSV, compressed or not, damaged before or after compression.

Most inputs go to the readers alone. Some are imported by a server, whose table must be sound afterwards.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import zstandard

from fuzz.mutate import ODD_BYTES, damaged
from fuzz.values import NAMES, item_of, value
from fuzz.watch import Broken, Watch
from hashrange.transfer import ion_text
from hashrange.transfer.decompression import GZIP, NONE, ZSTD, MalformedObject, pieces
from hashrange.transfer.input_formats import BadRecord, Csv, DynamoDbJson, InputFormat, Ion, Put
from unit.transfer.support import engine_with, start_import, write

SCHEMA = {"pk": "S", "sk": "S"}
FORMATS = ("DYNAMODB_JSON", "ION", "CSV")
ION_PIECES = [
    *(
        b'{Item:{pk:"a",sk:"b",n:1.5d0,l:[1,true,null.int,{{AQ==}}],m:{\'a b\':"\\u00e9"}}}\n',
        b"$ion_1_0 ",
        b"'''a''' '''b'''",
    ),
    *(
        b'$dynamodb_SS::["a","b"]',
        b"/* comment */",
        b"// line\n",
        b"0x1F",
        b"0b101",
        b"1_000.5e-3",
        b"nan",
        b"2020-01-01T",
    ),
    *(
        b"{{",
        b"}}",
        b"'''",
        b'"\\x41\\U0001F600\\',
        b"(a b)",
        b"a::b::c::1",
        b"\xe0\x01\x00\xea",
        b"$0",
        b"\\\n",
        b"null.null",
    ),
]
JSON_PIECES = [
    b'{"Item":{"pk":{"S":"a"},"sk":{"S":"b"}}}\n',
    b"\n\n",
    b"[[[[",
    b'{"Item":',
    b'"\\ud800"',
    b"\xef\xbb\xbf",
]
CSV_PIECES = [
    b'"a ""quoted"" cell"',
    b'"',
    b'""',
    b",,,,",
    b"\r\n",
    b"\n",
    b"pk,sk\n",
    b"\xef\xbb\xbf",
    b"\xff",
    b"a\rb",
]
PIECES = {"DYNAMODB_JSON": JSON_PIECES, "ION": ION_PIECES, "CSV": CSV_PIECES}


class Content:
    """Bytes as the body of an object, which come in whatever portions they like."""

    def __init__(self, data: bytes, portion: int) -> None:
        self._data = BytesIO(data)
        self._portion = max(portion, len(data) // 10_000)

    def read(self, size: int, /) -> bytes:
        return self._data.read(min(size, self._portion))

    def close(self) -> None:
        pass


def content_of(chance: Random, kind: str) -> bytes:
    """A file with a few items, such as an export would write, with some damage."""
    items = [item_of(chance, SCHEMA) for _ in range(chance.choice((0, 1, 2, 5)))]
    if kind == "CSV":
        data = csv_of(chance, items)
    else:
        data = b"".join(line_of(chance, kind, item) for item in items)
    data += chance.choice(PIECES[kind]) if chance.random() < 0.3 else b""
    return damaged(chance, data, [*PIECES[kind], *ODD_BYTES]) if chance.random() < 0.8 else data


def line_of(chance: Random, kind: str, item: dict[str, Any]) -> bytes:
    if kind == "ION" and chance.random() < 0.3:
        return chance.choice(ION_PIECES) + b"\n"
    tree: dict[str, Any] = {"Item": item}
    if chance.random() < 0.1:
        condition = {"ConditionExpression": chance.choice(("attribute_exists(pk)", "a = :a", "", "a =")), ":a": 1}
        tree |= condition | {"ExpressionAttributeValues": chance.choice(({":a": value(chance)}, {}, [], None))}
    if kind == "ION":
        return ion_of(tree) + b"\n"
    return json.dumps(tree).encode() + b"\n"


def ion_of(tree: dict[str, Any]) -> bytes:
    try:
        return f"{{Item:{ion_text.attributes(tree['Item'])}}}".encode(errors="surrogatepass")
    except Exception:  # an item that no table holds cannot be written down
        return ION_PIECES[0]


def csv_of(chance: Random, items: list[dict[str, Any]]) -> bytes:
    header = ",".join(("pk", "sk", *chance.sample(NAMES[2:], chance.randrange(3))))
    rows = [",".join(cell(chance, next(iter(each.values()))) for each in item.values()) for item in items]
    return (chance.choice(("\n", "\r\n")).join((header, *rows, ""))).encode(errors="surrogatepass")


def cell(chance: Random, content: Any) -> str:
    text = str(content)
    return '"' + text.replace('"', '""') + '"' if chance.random() < 0.5 else text


def compressed(chance: Random, data: bytes) -> tuple[str, bytes]:
    """How the file is said to be compressed, and what it is."""
    said = chance.choice((NONE, NONE, NONE, GZIP, ZSTD))
    made = said if chance.random() < 0.95 else chance.choice((NONE, GZIP, ZSTD))
    if made == GZIP:
        data = gzip.compress(data, 1, mtime=0)
    elif made == ZSTD:
        data = zstandard.ZstdCompressor(level=1).compress(data)
    if made != NONE and chance.random() < 0.5:
        data = damaged(chance, data, [data, *ODD_BYTES])
    return said, data


def format_of(chance: Random, kind: str) -> InputFormat:
    if kind == "ION":
        return Ion()
    if kind == "DYNAMODB_JSON":
        return DynamoDbJson()
    return Csv(chance.choice(",;|\t"), chance.choice((None, ["pk", "sk", "a"])), SCHEMA)


def read(input_format: InputFormat, compression: str, content: Content) -> str:
    """Read a file to its end as an import does; only the errors of a bad file may come out."""
    items = bad = 0
    try:
        for record in input_format.records(pieces(content, compression)):
            try:
                put = input_format.put_of(record)
                if not isinstance(put, Put) or not isinstance(put.item, dict):
                    raise Broken(f"a record that is neither an item nor bad: {put!r}"[:200])
                items += 1
            except BadRecord:
                bad += 1
    except MalformedObject:
        return "malformed"
    return "items" if items else "bad" if bad else "empty"


def imported(kind: str, compression: str, data: bytes, options: dict[str, Any]) -> str:
    """Import a file into a table that did not exist. What is bad about it is counted, and the rest is there."""
    with tempfile.TemporaryDirectory(prefix="hashrange-fuzz-") as directory:
        engine = engine_with(Path(directory))
        write(Path(directory), "in/file", data)
        started = start_import(engine, InputFormat=kind, InputCompressionType=compression, **options)
        engine.run_jobs()
        told = engine.call("DescribeImport", ImportArn=started["ImportArn"])["ImportTableDescription"]
        if told["ImportStatus"] not in ("COMPLETED", "FAILED") or told.get("FailureCode") == "InternalError":
            raise Broken(f"an import that ends with {told['ImportStatus']} {told.get('FailureCode')}")
        problems = engine.problems()
        if problems:
            raise Broken(f"the database has problems: {problems[:3]}")
        return f"import {told['ImportStatus'].lower()}"


def round_of_files(chance: Random, watch: Watch, inputs: int) -> None:
    for number in range(inputs):
        kind = chance.choice(FORMATS)
        compression, data = compressed(chance, content_of(chance, kind))
        label = f"{kind} {compression} ".encode()
        if number % 10 == 0:
            options = {"InputFormatOptions": {"Csv": {"Delimiter": ","}}} if kind == "CSV" else {}
            watch.each(label + data, lambda: imported(kind, compression, data, options))  # noqa: B023
            continue
        content = Content(data, chance.choice((1, 3, 100, 1_000_000)))
        input_format = format_of(chance, kind)
        watch.each(label + data, lambda: read(input_format, compression, content))  # noqa: B023
