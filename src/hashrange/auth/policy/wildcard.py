"""Texts with wildcards: `*` is any text, also none, and `?` is any one character.

Whoever writes a policy chooses the pattern and whoever sends a request chooses the text, so matching must not become
slow for any pair of them. A pattern is cut at its stars; the pieces between them are looked for from left to right,
each where it first occurs, and never looked for again. No piece is tried twice at one place, so the time grows with the
length of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum


class Wild(Enum):
    """The two wildcards, told apart from stars and question marks that mean themselves."""

    ANY = "*"
    ONE = "?"


Part = str | Wild


class Pattern:
    """A sequence of literal texts and wildcards, ready to be held against texts."""

    __slots__ = ("_first", "_is_everything", "_last", "_literal", "_middle", "_shortest")

    def __init__(self, parts: Sequence[Part]) -> None:
        pieces = [Piece(run) for run in _runs(parts)]
        self._literal = pieces[0].literal if len(pieces) == 1 else None
        self._first = pieces[0]
        self._last = pieces[-1] if len(pieces) > 1 else None
        self._middle = tuple(piece for piece in pieces[1:-1] if piece.length)
        self._shortest = sum(piece.length for piece in pieces)
        self._is_everything = len(pieces) > 1 and not self._shortest

    def matches(self, text: str) -> bool:
        """Whether the pattern is the whole text."""
        if self._literal is not None:
            return text == self._literal
        if self._is_everything:
            return True
        if self._last is None:
            return len(text) == self._shortest and self._first.is_at(text, 0)
        end = len(text) - self._last.length
        if len(text) < self._shortest or not self._first.is_at(text, 0) or not self._last.is_at(text, end):
            return False
        position = self._first.length
        for piece in self._middle:
            position = piece.find(text, position, end)
            if position < 0:
                return False
            position += piece.length
        return True


class Piece:
    """What stands between two stars: characters, of which some may be any."""

    __slots__ = ("_masks", "_other", "_parts", "length", "literal")

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = tuple(parts)
        self.length = sum(len(part) if isinstance(part, str) else 1 for part in parts)
        self.literal: str | None = None
        if Wild.ONE not in self._parts:
            self.literal = "".join(part for part in parts if isinstance(part, str))
        self._masks: dict[str, int] = {}
        self._other = 0
        if self.literal is None:
            self._prepare()

    def _prepare(self) -> None:
        """For each character, the places of the piece where it may stand, as bits of a number."""
        places = [place for part in self._parts for place in (part if isinstance(part, str) else (None,))]
        for place, character in enumerate(places):
            if character is None:
                self._other |= 1 << place
        for place, character in enumerate(places):
            if character is not None:
                self._masks[character] = self._masks.get(character, self._other) | 1 << place

    def is_at(self, text: str, position: int) -> bool:
        if self.literal is not None:
            return text.startswith(self.literal, position)
        return self.find(text, position, position + self.length) == position

    def find(self, text: str, start: int, end: int) -> int:
        """Where the piece first lies within a part of the text; -1 if nowhere."""
        if self.literal is not None:
            return text.find(self.literal, start, end)
        # All places where the piece may have begun are followed at once: bit k says that k + 1 characters fit so far.
        fitting, whole = 0, 1 << (self.length - 1)
        for position in range(start, min(end, len(text))):
            fitting = (fitting << 1 | 1) & self._masks.get(text[position], self._other)
            if fitting & whole:
                return position - self.length + 1
        return -1


def _runs(parts: Sequence[Part]) -> list[list[Part]]:
    """The parts between the stars; one more run than there are stars."""
    runs: list[list[Part]] = [[]]
    for part in parts:
        if part is Wild.ANY:
            runs.append([])
        else:
            runs[-1].append(part)
    return runs


def parts_of(text: str) -> list[Part]:
    """A text in which every star and question mark is a wildcard, taken apart."""
    parts: list[Part] = []
    literal = ""
    for character in text:
        if character in "*?":
            if literal:
                parts.append(literal)
                literal = ""
            parts.append(Wild(character))
        else:
            literal += character
    return [*parts, literal] if literal else parts
