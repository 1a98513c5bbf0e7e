"""What can be known of a large body before it is parsed.

JSON grows when it is read: sixteen megabytes of brackets become two thirds of a gigabyte of lists. Counting brackets
takes a hundredth of a second, and no memory.
"""

from __future__ import annotations

from hashrange.errors import ValidationException

BRACKETS_MAX = 1_000_000  # more than any sensible request has: 25 vectors of 20,000 numbers are half of it

QUOTES_AND_BRACKETS = b'"[{'
ALL_OTHERS = bytes(set(range(256)) - set(QUOTES_AND_BRACKETS))


def require_few_brackets(body: bytes) -> None:
    if body.count(b"{") + body.count(b"[") > BRACKETS_MAX and brackets(body) > BRACKETS_MAX:
        raise ValidationException(f"A request may not have more than {BRACKETS_MAX:,} lists and objects.")


def brackets(body: bytes) -> int:
    """How many lists and objects a JSON text opens; brackets in strings are not counted.

    Escaped quotes are taken out, then everything but quotes and brackets, then the quotes that stand together: those of
    strings without a bracket, mostly. Taking out two of them never brings a bracket into a string, or out of one.
    """
    if b"\\" in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = body.translate(None, ALL_OTHERS).replace(b'""', b"")
    return sum(map(len, marks.split(b'"')[::2]))
