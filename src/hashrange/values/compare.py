"""The order of attribute values: defined between two strings, two numbers or two binaries, and nowhere else."""

from __future__ import annotations

from typing import TypeVar

from hashrange.values import binary, number
from hashrange.values.types import AttributeValue

Ordered = TypeVar("Ordered", str, bytes)


def compare(a: AttributeValue, b: AttributeValue) -> int | None:
    """-1, 0 or 1: how `a` stands to `b`, or None if they have no order."""
    if "N" in a and "N" in b:
        return number.compare(a["N"], b["N"])
    if "S" in a and "S" in b:
        return _sign(a["S"], b["S"])  # code points sort like their UTF-8 bytes
    if "B" in a and "B" in b:
        return _sign(binary.decode(a["B"]), binary.decode(b["B"]))
    return None


def _sign(a: Ordered, b: Ordered) -> int:
    return (a > b) - (a < b)
