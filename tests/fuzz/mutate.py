"""Small damage to bytes and to JSON, drawn from a seeded generator so that the same seed does the same damage."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

ODD_NUMBERS = [0, -1, 1, 1.5, -0.0, 2**31, 2**53, 2**63, 2**64, -(2**63) - 1, 10**40, 1e308, 5e-324, 1767225600.123]
ODD_TEXTS = [
    "",
    " ",
    "\0",
    "\r\nX-Injected: yes",
    "\x1b[31mred\x1b[0m",
    "a\u0000b",
    "\u202eright to left",
    "é́",
    "𐀀😀",
    "\ud800",
    "../../etc/passwd",
    "/etc/passwd",
    "%s%n{0}{x!r}",
    "'; --",
    "arn:aws:dynamodb:us-east-1:000000000000:table/",
    "arn:aws:dynamodb:::",
    "9" * 400,
    "x" * 255,
    "x" * 256,
    "x" * 1025,
    "x" * 2049,
    "NaN",
    "true",
    "__proto__",
]
ODD_BYTES = [b"", b"\0", b"\r", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"\t", b":", b"\xff", b"\x80", b"\x1b", b"%00", b"0"]


def damaged(chance: Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    """The bytes with one to four pieces of damage."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 4))):
        data = damaged_once(chance, data, corpus)
    return data


def damaged_once(chance: Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.choice((1, 1, 2, 4, 8, 64)))
    kind = chance.randrange(8)
    if kind == 0:
        return data[:start] + data[end:]
    if kind == 1:
        return data[:start] + bytes([chance.randrange(256)]) + data[start + 1 :]
    if kind == 2:
        return data[:start] + chance.choice(ODD_BYTES) + data[start:]
    if kind == 3:
        return data[:end] + data[start:end] * chance.choice((1, 2, 50)) + data[end:]
    if kind == 4:
        return data[:start]
    if kind == 5:
        other = chance.choice(corpus)
        return data[:start] + other[chance.randrange(len(other) + 1) :]
    if kind == 6:
        other = chance.choice(corpus)
        cut = chance.randrange(len(other) + 1)
        return data[:start] + other[cut : cut + chance.choice((4, 16, 64))] + data[end:]
    flipped = bytes(byte ^ (1 << chance.randrange(8)) for byte in data[start:end])
    return data[:start] + flipped + data[end:]


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON tree: a container and the name or number under which it holds something."""
    waiting = [tree]
    while waiting:
        container = waiting.pop()
        names = list(container) if isinstance(container, dict) else range(len(container))
        for name in names:
            yield container, name
            if isinstance(container[name], dict | list):
                waiting.append(container[name])


def odd(chance: Random) -> Any:
    """Something that is seldom right anywhere."""
    kind = chance.randrange(9)
    if kind == 0:
        return None
    if kind == 1:
        return chance.choice((True, False))
    if kind == 2:
        return chance.choice(ODD_NUMBERS)
    if kind in (3, 4, 5):
        return chance.choice(ODD_TEXTS)
    if kind == 6:
        return [] if chance.random() < 0.5 else [odd(chance) for _ in range(chance.choice((1, 2, 30)))]
    if kind == 7:
        return {} if chance.random() < 0.5 else {chance.choice(ODD_TEXTS): odd(chance)}
    return nested(chance, chance.choice((3, 30, 33, 40, 300)))


def nested(chance: Random, depth: int) -> Any:
    """Lists or maps inside each other, with or without the type codes of attribute values."""
    tree: Any = chance.choice((None, {"S": "x"}, "x"))
    form = chance.randrange(4)
    for _ in range(depth):
        tree = ([tree], {"a": tree}, {"L": [tree]}, {"M": {"a": tree}})[form]
    return tree


def altered(chance: Random, tree: dict[str, Any]) -> dict[str, Any]:
    """Damage a JSON tree in place at one to three places."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        found = list(places(tree))
        if not found:
            tree["TableName"] = odd(chance)
            continue
        container, name = chance.choice(found)
        alter(chance, container, name, [holder[key] for holder, key in found])
    return tree


def alter(chance: Random, container: Any, name: Any, others: list[Any]) -> None:
    kind = chance.randrange(6)
    value = container[name]
    if kind == 0:
        del container[name]
    elif kind == 1 and isinstance(value, str):
        container[name] = altered_text(chance, value)
    elif kind == 2:
        container[name] = copied(chance.choice(others))
    elif kind == 3 and isinstance(container, list):
        container[name:name] = [value] * chance.choice((1, 1, 25, 101))
    elif kind == 3:
        container[chance.choice(ODD_TEXTS)] = value
    elif kind == 4 and isinstance(value, list | dict):
        container[name] = [value] if chance.random() < 0.5 else str(value)
    else:
        container[name] = odd(chance)


def copied(tree: Any) -> Any:
    try:
        return json.loads(json.dumps(tree))
    except RecursionError:
        return None


def altered_text(chance: Random, text: str) -> str:
    place = chance.randrange(len(text) + 1)
    piece = chance.choice(ODD_TEXTS)
    return chance.choice((text[:place], text[:place] + piece + text[place:], text * chance.choice((2, 100)), piece))


def deepened(chance: Random, data: bytes) -> bytes:
    """JSON text with one of its texts replaced by something as deep as a parser takes, or deeper."""
    found = list(re.finditer(rb'(?<=[:\[ ])"[^"\\]*"(?! *:)', data))
    if not found:
        return data
    start, end = chance.choice(found).span()
    first, last = chance.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'{"L":[', b"]}"), (b'{"M":{"a":', b"}}")))
    depth = chance.choice((250, 400, 900, 1020, 3000)) // (1 + first.count(b"[") + first.count(b":") // 2)
    return data[:start] + first * depth + data[start:end] + last * depth + data[end:]


def written(chance: Random, tree: Any) -> bytes:
    """JSON text of a tree, at times with members given twice, odd escapes, or damage to the text itself."""
    try:
        data = json.dumps(tree, ensure_ascii=chance.random() < 0.5).encode(errors="surrogatepass")
    except RecursionError:
        data = b'{"a":' * 5000
    if chance.random() < 0.01:
        data = deepened(chance, data)
    if chance.random() < 0.04 and data.startswith(b"{") and len(data) > 2:
        data = data[:-1] + b"," + data[1:]  # every member twice
    if chance.random() < 0.04:
        data = damaged(chance, data, [data, b'{"a":', b"[[[[[[[[", b"\\ud800\\u0000", b"1e999", b"\xef\xbb\xbf"])
    return data
