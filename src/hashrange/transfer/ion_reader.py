"""Reads text Ion: as much of it as items are made of, from a file of any length.

Strings (short and long), symbols, numbers of every notation, booleans, nulls, blobs, lists, structs, annotations and
comments are read; timestamps, clobs and S-expressions are not part of any item. Binary Ion is another format and is
refused.

Values come out as attribute values, since each kind of Ion value stands for one type of attribute. One that stands for
none, such as a symbol, comes out as an empty dict, which no item can hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from hashrange.limits import NESTING_LEVELS_MAX
from hashrange.transfer.decompression import MalformedObject
from hashrange.transfer.ion_text import SET_ANNOTATIONS
from hashrange.transfer.lines import LINE_BYTES_MAX
from hashrange.values.types import AttributeValue

BINARY_MARKER = b"\xe0\x01\x00\xea"
SYSTEM_PREFIX = "$ion_"  # version markers and symbol tables speak about the file, not about items
DEPTH_MAX = NESTING_LEVELS_MAX + 8  # an item that is a little too deep is refused as such, not as bad Ion
SETS = {annotation: kind for kind, annotation in SET_ANNOTATIONS.items()}

_SPACE = re.compile(r"(?:[ \t\n\r\f\v]+|//[^\n]*|/\*(?s:.*?)\*/)*")
_TOKEN = re.compile(
    r"""
      (?P<number>-?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|(?:0|[1-9][0-9_]*)(?:\.[0-9_]*)?(?:[dDeE][+-]?[0-9]+)?)
                 (?![A-Za-z0-9_$.:-]))
    | (?P<word>null\.[a-z]+|[A-Za-z_$][A-Za-z0-9_$]*)
    | "(?P<string>[^"\\\n]*(?:\\(?s:.)[^"\\\n]*)*)"
    | '''(?P<long>[^'\\]*(?:(?:\\(?s:.)|'(?!''))[^'\\]*)*)'''
    | '(?!'')(?P<symbol>[^'\\\n]*(?:\\.[^'\\\n]*)*)'
    | \{\{(?P<blob>[A-Za-z0-9+/=\s]*)\}\}
    | (?P<mark>::|\{(?!\{)|[}\[\]:,])
    """,
    re.VERBOSE,
)
_UNENDED = re.compile(r"'''|\{\{[A-Za-z0-9+/=\s]*\}?$|/\*|\"(?s:.)*\\\r?\n$")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\r?\n|(?s:.)))")
_PLAIN_ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "v": "\v"}
_PLAIN_ESCAPES |= {each: each for each in "\"'?\\/"} | {"\n": "", "\r\n": ""}
_NO_ATTRIBUTE: AttributeValue = {}


class Truncated(Exception):
    """The text ends inside a value; more of it may make it whole."""


def values(pieces: Iterable[bytes]) -> Iterator[AttributeValue]:
    """Every value of a file. `MalformedObject` where the text cannot be read on."""
    waiting = b""
    enough = 0  # a value that was not whole is tried again only when there is twice as much of it
    for piece in pieces:
        waiting += piece
        if waiting.startswith(BINARY_MARKER):
            raise MalformedObject("The object is binary Ion; only text Ion can be read")
        whole, newline, last = waiting.rpartition(b"\n")  # hardly anything goes on over the end of a line
        if not newline or len(whole) < enough:
            _refuse_endless(waiting)
            continue
        text = Text(_decoded(whole + newline))
        yield from text.complete_values()
        rest = text.rest().encode()
        waiting = rest + last
        enough = 2 * len(rest)
        _refuse_endless(waiting)
    text = Text(_decoded(waiting))
    yield from text.complete_values()
    if text.rest():
        raise MalformedObject("The object is not valid Ion: it ends inside a value")


def _refuse_endless(waiting: bytes) -> None:
    if len(waiting) > LINE_BYTES_MAX:
        raise MalformedObject(f"The object has more than {LINE_BYTES_MAX} bytes without an item")


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise MalformedObject(f"The object is not UTF-8: {error}") from None


class Text:
    """A piece of Ion text and how far it has been read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._done = 0  # the end of the last whole value

    def rest(self) -> str:
        """What belongs to a value that is not whole."""
        return self._text[self._done :]

    def complete_values(self) -> Iterator[AttributeValue]:
        while True:
            try:
                self._space()
                self._done = self._position
                if self._position == len(self._text):
                    return
                found = self._top_level()
            except Truncated:
                return
            self._done = self._position
            if found is not None:
                yield found

    def _top_level(self) -> AttributeValue | None:
        """The next value; None for one that speaks about the file."""
        is_system = self._text.startswith(SYSTEM_PREFIX, self._position)
        value = self._value(*self._token(), 0)
        return None if is_system else value

    def _space(self) -> None:
        match = _SPACE.match(self._text, self._position)
        assert match is not None
        self._position = match.end()

    def _token(self) -> tuple[str, str]:
        """The kind and the content of the next token."""
        self._space()
        match = _TOKEN.match(self._text, self._position)
        if match is None:
            if self._position == len(self._text) or _UNENDED.match(self._text, self._position):
                raise Truncated
            raise self._malformed()
        self._position = match.end()
        kind = match.lastgroup
        assert kind is not None
        return kind, match[kind]

    def _malformed(self) -> MalformedObject:
        near = self._text[self._position : self._position + 20]
        return MalformedObject(f"The object is not valid Ion near {near!r}")

    def _value(self, kind: str, content: str, depth: int) -> AttributeValue:
        """The value that starts with a token just read."""
        if depth > DEPTH_MAX:
            raise MalformedObject("The object has Ion values that are nested too deeply")
        if kind in ("word", "symbol") and self._follows("::"):
            return _annotated(self._name(kind, content), self._value(*self._token(), depth + 1))
        if kind == "string":
            return {"S": _unescaped(content)}
        if kind == "long":
            return {"S": self._long(content)}
        if kind == "number":
            return _number(content)
        if kind == "blob":
            return {"B": "".join(content.split())}
        if kind == "word":
            return _word(content)
        if content == "{":
            return {"M": self._struct(depth)}
        if content == "[":
            return {"L": self._list(depth)}
        if kind == "symbol":
            return _NO_ATTRIBUTE
        raise self._malformed()

    def _follows(self, mark: str) -> bool:
        """Whether a mark comes next; if so it is read."""
        self._space()
        if not self._text.startswith(mark, self._position):
            return False
        self._position += len(mark)
        return True

    def _struct(self, depth: int) -> dict[str, AttributeValue]:
        members: dict[str, AttributeValue] = {}
        kind, content = self._token()
        while (kind, content) != ("mark", "}"):
            name = self._name(kind, content)
            if self._token() != ("mark", ":"):
                raise self._malformed()
            members[name] = self._value(*self._token(), depth + 1)
            kind, content = self._after_element("}")
        return members

    def _list(self, depth: int) -> list[AttributeValue]:
        elements: list[AttributeValue] = []
        kind, content = self._token()
        while (kind, content) != ("mark", "]"):
            elements.append(self._value(kind, content, depth + 1))
            kind, content = self._after_element("]")
        return elements

    def _after_element(self, end: str) -> tuple[str, str]:
        """The token that begins the next element, or the one that ends the container."""
        kind, content = self._token()
        if (kind, content) == ("mark", ","):
            return self._token()
        if (kind, content) != ("mark", end):
            raise self._malformed()
        return kind, content

    def _name(self, kind: str, content: str) -> str:
        if kind == "word":
            return content
        if kind in ("symbol", "string"):
            return _unescaped(content)
        if kind == "long":
            return self._long(content)
        raise self._malformed()

    def _long(self, first: str) -> str:
        """A long string, which may be written in several parts."""
        parts = [first]
        self._space()
        while self._text.startswith("'''", self._position):
            parts.append(self._token()[1])
            self._space()
        return "".join(map(_unescaped, parts)).replace("\r\n", "\n")


def _annotated(annotation: str, value: AttributeValue) -> AttributeValue:
    """A list may be annotated as a set; other annotations do not matter."""
    kind = SETS.get(annotation)
    if kind is None:
        return value
    return {kind: [element.get(kind[0]) for element in value["L"]]} if "L" in value else _NO_ATTRIBUTE


def _word(content: str) -> AttributeValue:
    if content in ("true", "false"):
        return {"BOOL": content == "true"}
    return {"NULL": True} if content == "null" or content.startswith("null.") else _NO_ATTRIBUTE


def _number(content: str) -> AttributeValue:
    text = content.replace("_", "")
    magnitude = text.lstrip("-")
    if magnitude[:2] in ("0x", "0X", "0b", "0B"):
        try:
            return {"N": str(int(text, 0))}
        except ValueError:
            return _NO_ATTRIBUTE  # more digits than Python turns into text, let alone an attribute
    return {"N": text.replace("d", "e").replace("D", "e")}


def _unescaped(content: str) -> str:
    return content if "\\" not in content else _ESCAPE.sub(_character, content)


def _character(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    if code is None:
        plain = _PLAIN_ESCAPES.get(escape[4])
        if plain is None:
            raise MalformedObject(f"The object is not valid Ion near {escape[0]!r}")
        return plain
    number = int(code, 16)
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        raise MalformedObject(f"The object is not valid Ion near {escape[0]!r}")
    return chr(number)
