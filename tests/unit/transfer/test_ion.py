"""Text Ion: what we write reads back, and what others may write is read, or refused for a reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.transfer import ion_reader, ion_text
from hashrange.transfer.decompression import MalformedObject
from hashrange.transfer.lines import LINE_BYTES_MAX

ITEM = {
    "plain": {"S": "text"},
    "with space": {"S": "quotes \" ' and \\ and\nnew\tlines\x00"},
    "null": {"NULL": True},
    "$ion_1_0": {"BOOL": False},
    "": {"B": "AQI="},
    "n": {"N": "1"},
    "f": {"N": "-0.5"},
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2.5"]},
    "bs": {"BS": ["", "AQI="]},
    "l": {"L": [{"M": {}}, {"L": []}, {"S": "é😀"}]},
}
WRITTEN = (
    "$ion_1_0 {Item:{plain:\"text\",'with space':\"quotes \\\" \\' and \\\\ and\\nnew\\tlines\\x00\",'null':null,"
    "'$ion_1_0':false,'':{{AQI=}},n:1.,f:-0.5,ss:$dynamodb_SS::[\"a\",\"b\"],ns:$dynamodb_NS::[1.,2.5],"
    'bs:$dynamodb_BS::[{{}},{{AQI=}}],l:[{},[],"é😀"]}}\n'
)


def read(text: str | bytes, size: int = 1_000_000) -> list[Any]:
    data = text.encode() if isinstance(text, str) else text
    return list(ion_reader.values(data[start : start + size] for start in range(0, len(data), size)))


def test_an_item_is_written_as_the_service_does() -> None:
    assert ion_text.line({"Item": ion_text.attributes(ITEM)}) == WRITTEN


@pytest.mark.parametrize("size", [1, 2, 3, 10, 1000])
def test_it_reads_back_however_it_is_cut(size: int) -> None:
    expected = {**ITEM, "n": {"N": "1."}, "ns": {"NS": ["1.", "2.5"]}}
    assert read(WRITTEN * 3, size) == [{"M": {"Item": {"M": expected}}}] * 3


VALUES = {
    '"a\\x41\\u00e9\\U0001F600\\/"': {"S": "aAé😀/"},
    "'''one'''\n  '''\ntwo'''": {"S": "one\ntwo"},
    "'''it''s'''": {"S": "it''s"},
    "0x1F": {"N": "31"},
    "-0b101": {"N": "-5"},
    "1_000": {"N": "1000"},
    "12.5d-3": {"N": "12.5e-3"},
    "1e3": {"N": "1e3"},
    "null.string": {"NULL": True},
    "true": {"BOOL": True},
    "{{ AQ\n I= }}": {"B": "AQI="},
    "[1,/* two */ 2, // three\n 3,]": {"L": [{"N": "1"}, {"N": "2"}, {"N": "3"}]},
    "{a:1,'b c':2,\"d\":3,}": {"M": {"a": {"N": "1"}, "b c": {"N": "2"}, "d": {"N": "3"}}},
    "note::'more'::7": {"N": "7"},
    "symbol": {},
    "'symbol'": {},
    "nan": {},
    "$dynamodb_SS::7": {},
    "$dynamodb_SS::[7]": {"SS": [None]},
}


@pytest.mark.parametrize(("text", "value"), VALUES.items(), ids=VALUES)
@pytest.mark.parametrize("size", [1, 1000])
def test_values_of_every_notation_are_read(text: str, value: Any, size: int) -> None:
    assert read(f"{{v:{text}}}\n", size) == [{"M": {"v": value}}]


def test_what_speaks_about_the_file_is_no_value() -> None:
    assert read('$ion_1_0 $ion_symbol_table::{symbols:["a"]} {a:1}') == [{"M": {"a": {"N": "1"}}}]


@pytest.mark.parametrize(
    "text",
    [
        b"{Item:{",
        b"}",
        b"{a 1}",
        b"{a:1 b:2}",
        b"{a:(1)}",
        b"{a:2007-01-01T}",
        b"1.2.3",
        b"::",
        b"a::",
        b'"open',
        b'"open\n"',
        b"'''open",
        b"/* open",
        b"{{!}}",
        b'{{"clob"}}',
        b'"\\q"',
        b'"\\ud800"',
        b"\xff",
        b"\xe0\x01\x00\xea\x00",
        b"[" * 100_000,
        b"a::" * 100_000 + b"1",
        b"[" * (LINE_BYTES_MAX + 1),
    ],
    ids=lambda text: text[:20],
)
def test_what_is_not_ion_is_refused(text: bytes) -> None:
    with pytest.raises(MalformedObject):
        read(text)


@given(st.text(alphabet="{}[]:,'\"\\/*ab1.$-_ \n", max_size=40), st.integers(1, 7))
def test_no_text_does_anything_else(text: str, size: int) -> None:
    results = []
    for pieces in (size, 1000):
        try:
            results.append(read(text, pieces))
        except MalformedObject:
            results.append(None)
    assert results[0] == results[1]
