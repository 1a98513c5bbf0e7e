"""Expression text as tokens.

A token's kind is what the grammar looks at: for symbols and keywords it is the token itself, keywords in upper
case. A character that begins no token is a token of its own, which no grammar accepts.
"""

from __future__ import annotations

import re
from typing import NamedTuple

KEYWORDS = frozenset({"AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE"})
COMPARATORS = frozenset({"=", "<>", "<", "<=", ">", ">="})

NAME = "name"
NAME_PLACEHOLDER = "name_placeholder"
VALUE_PLACEHOLDER = "value_placeholder"
INDEX = "index"
END = "<EOF>"

_TOKEN = re.compile(
    r"""
      [ \t\r\n]+
    | (?P<name> [A-Za-z][A-Za-z0-9_]* )
    | (?P<name_placeholder> \#[A-Za-z0-9_]+ )
    | (?P<value_placeholder> :[A-Za-z0-9_]+ )
    | (?P<index> [0-9]+ )
    | (?P<symbol> <> | <= | >= | [=<>()\[\].,+-] )
    | (?P<illegal> . )
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """All tokens of the text, the last one being the end of it."""
    tokens = []
    for match in _TOKEN.finditer(text):
        group = match.lastgroup
        if group is None:  # white space
            continue
        word = match.group()
        if group == "symbol":
            kind = word
        elif group == NAME and word.upper() in KEYWORDS:
            kind = word.upper()
        else:
            kind = group
        tokens.append(Token(kind, word, match.start(), match.end()))
    tokens.append(Token(END, END, len(text), len(text)))
    return tokens
