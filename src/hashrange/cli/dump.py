"""`hashrange dump`: write all items of a table to a file."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing

from hashrange.cli.directory import DirectoryTable
from hashrange.cli.endpoint import EndpointTable
from hashrange.cli.item_lines import STANDARD, item_line, open_output, table_line
from hashrange.cli.progress import Progress

ITEMS_PER_LOOK = 1000


def run(arguments: argparse.Namespace) -> int:
    access = EndpointTable(arguments) if arguments.endpoint else DirectoryTable(arguments, writes=False)
    progress = Progress()
    items = 0
    with closing(access) as table:
        contents = table.contents()
        description = next(contents)
        with open_output(arguments.file) as output:
            output.write(table_line(description))
            for item in contents:
                output.write(item_line(item))
                items += 1
                if items % ITEMS_PER_LOOK == 0:
                    progress.show(items, items / (description["ItemCount"] or items))
    progress.hide()
    where = "" if arguments.file == STANDARD else f" to {arguments.file}"
    print(f"{items:,} items of {arguments.table} were written{where}.", file=sys.stderr)
    return 0
