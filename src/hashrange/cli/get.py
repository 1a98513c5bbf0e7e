"""`hashrange get`: print one item, as it is or as it was."""

from __future__ import annotations

import argparse
import sys

import orjson

from hashrange.cli.directory import reading
from hashrange.cli.keys import parse_key
from hashrange.cli.past import position_of
from hashrange.history.versions import item_as_of
from hashrange.values.types import Attributes

FOUND, NOT_FOUND = 0, 1


def run(arguments: argparse.Namespace) -> int:
    with reading(arguments) as (snapshot, table, now_micros):
        key = parse_key(table, arguments.key)
        if arguments.as_of is None:
            item = table.get(snapshot, table.key.pack(key))
        else:
            item = item_as_of(snapshot, table, key, position_of(snapshot, table, arguments.as_of, now_micros))
    if item is None:
        print("There is no such item." if arguments.as_of is None else "There was no such item.", file=sys.stderr)
        return NOT_FOUND
    print(in_lines(item.attributes))
    return FOUND


def in_lines(attributes: Attributes) -> str:
    """JSON with a line for each attribute."""
    lines = [f"  {orjson.dumps(name).decode()}: {orjson.dumps(value).decode()}" for name, value in attributes.items()]
    return "{\n" + ",\n".join(lines) + "\n}"
