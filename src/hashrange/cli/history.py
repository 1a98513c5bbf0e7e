"""`hashrange history`: every change of an item that the log still has, with what it changed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

import orjson

from hashrange.cli.directory import reading
from hashrange.cli.keys import parse_key
from hashrange.cli.moments import moment_text
from hashrange.cli.past import KEEPING
from hashrange.history.differences import Differences, differences
from hashrange.history.versions import Version, versions
from hashrange.streams.iterator import sequence_text
from hashrange.values.types import AttributeValue

FOUND, NOT_FOUND = 0, 1
VALUE_COLUMNS_MAX = 100
ORIGINS = {"user": "by a client", "service": "by time to live"}


def run(arguments: argparse.Namespace) -> int:
    with reading(arguments) as (snapshot, table, _):
        key = parse_key(table, arguments.key)
        found = 0
        for version in versions(snapshot, table, key):
            found += 1
            for line in [json_line(version)] if arguments.json else text_lines(version):
                print(line)
    if not table.definition.is_logged:
        print(f"The past of table {table.name} is not logged. {KEEPING}", file=sys.stderr)
    elif not found:
        print("The change log has no change of such an item.", file=sys.stderr)
    return FOUND if found else NOT_FOUND


def text_lines(version: Version) -> Iterator[str]:
    """A heading, and a line for each attribute that is different."""
    yield f"{moment_text(version.at_micros)}  {version.event}  {ORIGINS[version.origin]}"
    if not (version.knows_old and version.knows_new):
        yield from partial_lines(version)
        return
    found = differences(version.old, version.new)
    for path, value in found.added.items():
        yield f"  + {shown(path)}: {shortened(value)}"
    for path, (before, after) in found.changed.items():
        yield f"  ~ {shown(path)}: {shortened(before)} -> {shortened(after)}"
    for path, value in found.removed.items():
        yield f"  - {shown(path)}: {shortened(value)}"


def partial_lines(version: Version) -> Iterator[str]:
    """What can be told when the log did not keep both images."""
    known = version.new if version.knows_new else version.old
    which = "after" if version.knows_new else "before"
    if known is None:
        yield "  (the log kept only the key of this change)"
        return
    yield f"  (the log kept only the item {which} this change)"
    for name, value in known.items():
        yield f"    {shown(name)}: {shortened(value)}"


def json_line(version: Version) -> str:
    line: dict[str, Any] = {
        "time": moment_text(version.at_micros),
        "sequence_number": sequence_text(version.sequence),
        "event": version.event,
        "origin": version.origin,
        "old": version.old,
        "new": version.new,
    }
    if version.knows_old and version.knows_new:
        line["differences"] = json_differences(differences(version.old, version.new))
    return orjson.dumps(line).decode()


def json_differences(found: Differences) -> dict[str, Any]:
    changed = {path: {"old": before, "new": after} for path, (before, after) in found.changed.items()}
    return {"added": found.added, "changed": changed, "removed": found.removed}


def shortened(value: AttributeValue) -> str:
    text = readable(value)
    return text if len(text) <= VALUE_COLUMNS_MAX else f"{text[:VALUE_COLUMNS_MAX]}... ({len(text):,} characters)"


def readable(value: AttributeValue) -> str:
    """A value as people write it: 12, "text", ["a", 1], {"name": true}, and sets as <1, 2>."""
    kind, content = next(iter(value.items()))
    match kind:
        case "N":
            return str(content)
        case "NULL":
            return "null"
        case "B":
            return f"binary {content}"
        case "NS":
            return f"<{', '.join(content)}>"
        case "SS" | "BS":
            return f"<{', '.join(quoted(member) for member in content)}>"
        case "L":
            return f"[{', '.join(map(readable, content))}]"
        case "M":
            return "{" + ", ".join(f"{quoted(name)}: {readable(member)}" for name, member in content.items()) + "}"
    return quoted(content)


def quoted(content: str | bool) -> str:
    """A string or a boolean as JSON has it. No item may send control characters to a terminal."""
    text = orjson.dumps(content).decode()
    return text if text.isprintable() else json.dumps(content)


def shown(path: str) -> str:
    return path if path.isprintable() else quoted(path)
