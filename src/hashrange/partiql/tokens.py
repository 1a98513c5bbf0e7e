"""A statement as tokens.

A token's kind is what the grammar looks at: for symbols and keywords it is the token itself, keywords in upper case.
Single quotes hold strings, double quotes hold names, and either is doubled to stand for itself.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hashrange.partiql.errors import not_well_formed
from hashrange.partiql.keywords import KEYWORDS

NAME = "name"
QUOTED = "quoted"
STRING = "string"
NUMBER = "number"
END = "<EOF>"

_TOKEN = re.compile(
    r"""
      (?: \s | --[^\n]* | /\*.*?\*/ )+
    | (?P<name> [A-Za-z_$][A-Za-z0-9_$]* )
    | (?P<quoted> "(?:[^"]|"")*" )
    | (?P<string> '(?:[^']|'')*' )
    | (?P<number> (?: [0-9]+(?:\.[0-9]*)? | \.[0-9]+ ) (?:[eE][+-]?[0-9]+)? )
    | (?P<unclosed> /\* | ["'] )
    | (?P<symbol> << | >> | <> | <= | >= | != | \|\| | [=<>()\[\]{}.,:?*/%+;-] )
    | (?P<illegal> . )
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    kind: str
    text: str  # as it was written
    value: str  # a name or string without its quotes
    start: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """All tokens of the statement, the last one being the end of it."""
    tokens = []
    for match in _TOKEN.finditer(text):
        group = match.lastgroup
        if group is None:  # white space and comments
            continue
        word = value = match.group()
        kind = group
        if group == "symbol":
            kind = "<>" if word == "!=" else word
        elif group == NAME and word.upper() in KEYWORDS:
            kind = word.upper()
        elif group in (QUOTED, STRING):
            quote = word[0]
            value = word[1:-1].replace(quote * 2, quote)
        elif group in ("unclosed", "illegal"):
            raise not_well_formed()
        tokens.append(Token(kind, word, value, match.start(), match.end()))
    tokens.append(Token(END, "", "", len(text), len(text)))
    return tokens


def position(text: str, token: Token) -> str:
    """Where a token stands, as messages say it: line, column and length."""
    line = text.count("\n", 0, token.start) + 1
    column = token.start - text.rfind("\n", 0, token.start)
    return f"{line}:{column}:{token.end - token.start}"
