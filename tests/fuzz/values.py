"""Attribute values, keys and items: mostly such as a table can hold, at times at or over the edge."""

from __future__ import annotations

from base64 import b64encode
from random import Random
from typing import Any

from fuzz.mutate import ODD_TEXTS

NAMES = ["pk", "sk", "a", "b", "c", "n", "l", "m", "ss", "ns", "bs", "size", "expires", "a.b", "#a", ":a", "é", ""]
NUMBERS = [
    *("0", "-0", "1", "-1", "0.1", "1e10", "1E-130", "9.9999999999999999999999999999999999999E+125", "1e126", "1e-131"),
    *("12345678901234567890123456789012345678", "123456789012345678901234567890123456789", "0" * 500 + "1"),
    *("1e99999999999999999999", "-", ".", "1.", ".5", "+5", "1_0", " 1", "٣", "NaN", "Infinity", "0x10", "1e", ""),
    *("1800000000", "1799999999.5", "1" * 4400, "0." + "0" * 4400 + "1"),
]
TEXTS = ["a", "b", "k", "x", "xyz", "", "é", "😀", "\0", "x" * 1024, "x" * 1025, "x" * 2048, "x" * 2049, *ODD_TEXTS[:8]]
BINARIES = ["AQ==", "Ag==", "", "AQ", "A===", "AR==", "!!!!", "A Q==", "é", b64encode(b"x" * 2048).decode()]
KEYS = {"S": ["k", "a", "b", "", "x" * 1024, "x" * 2048], "N": NUMBERS[:8], "B": BINARIES[:3]}


def number(chance: Random) -> str:
    return chance.choice(NUMBERS) if chance.random() < 0.3 else str(chance.randrange(-5, 20))


def text(chance: Random) -> str:
    return chance.choice(TEXTS) if chance.random() < 0.5 else chance.choice("abckx")


def value(chance: Random, depth: int = 0) -> dict[str, Any]:
    """An attribute value."""
    kind = chance.choice(("S", "S", "N", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M", "big"))
    if kind == "S":
        return {"S": text(chance)}
    if kind == "N":
        return {"N": number(chance)}
    if kind == "B":
        return {"B": chance.choice(BINARIES)}
    if kind in ("BOOL", "NULL"):
        return {kind: chance.random() < 0.9}
    if kind in ("SS", "NS", "BS"):
        return {kind: members_of_set(chance, kind)}
    if kind == "big":
        return {"S": "x" * chance.choice((1000, 10_000, 409_000, 409_600))} if chance.random() < 0.02 else {"S": "k"}
    if depth > 3:
        return deep(chance) if chance.random() < 0.05 else {"N": "1"}
    if kind == "L":
        return {"L": [value(chance, depth + 1) for _ in range(chance.randrange(4))]}
    return {"M": {chance.choice(NAMES): value(chance, depth + 1) for _ in range(chance.randrange(4))}}


def members_of_set(chance: Random, kind: str) -> list[str]:
    draw = {"SS": text, "NS": number, "BS": lambda chance: chance.choice(BINARIES)}[kind]
    return [draw(chance) for _ in range(chance.choice((0, 1, 2, 3, 3)))]


def deep(chance: Random) -> dict[str, Any]:
    tree: dict[str, Any] = {"N": "1"}
    for _ in range(chance.choice((27, 28, 31, 40))):
        tree = {"L": [tree]} if chance.random() < 0.5 else {"M": {"a": tree}}
    return tree


def key_of(chance: Random, schema: dict[str, str]) -> dict[str, Any]:
    """A key of a table, whose schema is names and types."""
    return {name: {kind: chance.choice(KEYS[kind])} for name, kind in schema.items()}


def item_of(chance: Random, schema: dict[str, str]) -> dict[str, Any]:
    others = {chance.choice(NAMES): value(chance) for _ in range(chance.randrange(5))}
    return {**others, **key_of(chance, schema)}
