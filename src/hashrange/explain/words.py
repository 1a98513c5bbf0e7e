"""Numbers, keys and the arithmetic of capacity units in words."""

from __future__ import annotations

from collections.abc import Iterable

from hashrange.limits import READ_UNIT_BYTES, WRITE_UNIT_BYTES
from hashrange.values.types import Attributes, AttributeValue

FACTORS = {0.5: "x 1/2, eventually consistent", 2.0: "x 2, in a transaction"}
CHARACTERS_MAX = 60


def number(value: float) -> str:
    """`1,234`, `0.5`: without a fraction that says nothing."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4f}".rstrip("0")


def counted(count: float, noun: str) -> str:
    """`1 item`, `2 items`, `3 index entries`."""
    if count == 1:
        return f"1 {noun}"
    return f"{number(count)} {noun[:-1]}ies" if noun.endswith("ry") else f"{number(count)} {noun}s"


def units(count: float) -> str:
    return counted(count, "unit")


def read_arithmetic(size_bytes: int | None, factor: float) -> str:
    return _arithmetic(size_bytes, READ_UNIT_BYTES, "4 KB", factor)


def write_arithmetic(size_bytes: int | None, factor: float = 1.0) -> str:
    return _arithmetic(size_bytes, WRITE_UNIT_BYTES, "1 KB", factor)


def _arithmetic(size_bytes: int | None, unit_bytes: int, unit: str, factor: float) -> str:
    """`5,000 bytes: 2 x 4 KB, the last one begun counts whole; x 1/2, eventually consistent = 1 unit`."""
    blocks = -(-(size_bytes or 0) // unit_bytes)
    if size_bytes is None:
        text = f"nothing is there, which counts as 1 x {unit}"
    elif blocks <= 1:
        text = f"{counted(size_bytes, 'byte')}: 1 x {unit}"
    else:
        text = f"{counted(size_bytes, 'byte')}: {number(blocks)} x {unit}, the last one begun counts whole"
    if factor != 1.0:
        text += f"; {FACTORS.get(factor, f'x {number(factor)}')}"
    return f"{text} = {units((blocks or 1) * factor)}"


def key_text(attributes: Attributes, names: Iterable[str]) -> str:
    """`customer = "ada", placed = "2026-01-05"`."""
    return ", ".join(f"{name} = {value_text(attributes[name])}" for name in names if name in attributes)


def value_text(value: AttributeValue) -> str:
    kind, content = next(iter(value.items()))
    text = str(content) if kind == "N" else f'"{content}"' if kind == "S" else f"{kind} {content}"
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= CHARACTERS_MAX else f"{text[:CHARACTERS_MAX]}..."
