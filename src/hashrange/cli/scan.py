"""`hashrange scan`: print all items of a table, as they are or as they were, in the form that `load` reads."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from hashrange.backup.as_of import items_as_of, present_items
from hashrange.cli.directory import reading
from hashrange.cli.item_lines import item_line
from hashrange.cli.past import position_of
from hashrange.values.item import Item


def run(arguments: argparse.Namespace) -> int:
    with reading(arguments) as (snapshot, table, now_micros):
        items: Iterator[tuple[bytes, Item]]
        if arguments.as_of is None:
            items = present_items(snapshot, table.definition)
        else:
            items = items_as_of(snapshot, table.definition, position_of(snapshot, table, arguments.as_of, now_micros))
        for _, item in items:
            sys.stdout.buffer.write(item_line(item.json))
    return 0
